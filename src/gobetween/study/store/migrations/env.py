"""Alembic runs inside the transaction that `schema._upgrade` is given."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="gobetween_schema", transactional_ddl=True)
context.run_migrations()
