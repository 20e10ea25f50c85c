"""Alembic runs inside the transaction that `migrate.upgrade` holds."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="gobetween_alembic", transactional_ddl=True)
context.run_migrations()
