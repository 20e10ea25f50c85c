"""The tables of the first release (schema 1)."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    made = op.create_table("gobetween_schema", sa.Column("version", sa.Integer, primary_key=True))
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("study", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("query", sa.BigInteger),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "seq"),
        sa.UniqueConstraint("study", "key", "part", name="events_key"),
    )
    op.create_table(
        "queries",
        sa.Column("study", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("query", sa.BigInteger, nullable=False),
        sa.Column("mediator", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("slot", sa.BigInteger),
        sa.Column("arm", sa.Integer),
        sa.Column("reward", sa.Float(53)),
        sa.Column("worker", sa.Text),
        sa.PrimaryKeyConstraint("study", "query"),
    )
    op.create_index("queries_status", "queries", ["study", "status"])
    op.bulk_insert(made, [{"version": 1}])
