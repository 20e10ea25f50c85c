"""Who may do what (schema 3): tokens, of which only a digest is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("study", sa.Integer, sa.ForeignKey("studies.id")),
        sa.Column("mediator", sa.Integer),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.Column("expires", sa.Float(53)),
        sa.Column("revoked", sa.Float(53)),
    )
    op.get_bind().execute(sa.text("UPDATE gobetween_schema SET version = 3"))
