"""Who has to be told (schema 4): messages on their way, written with the events that they tell of."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "outbox",
        sa.Column("study", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("due", sa.Float(53), nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "about", "channel", "address"),
    )
    op.create_index("outbox_due", "outbox", ["study", "state", "due"])
    op.get_bind().execute(sa.text("UPDATE gobetween_schema SET version = 4"))
