"""Checksums (schema 2): what is stored is sealed as it stands; `doctor` compares it with the log.

An event without a seal is refused by the table itself, so that a process of the earlier version that still runs cannot write.
"""

import sqlalchemy as sa
from alembic import op

from gobetween.study.store.seals import event_seal, query_seal, study_seal

revision = "0002"
down_revision = "0001"
PAGE = 1000


def upgrade() -> None:
    """Add the columns, fill them, and let every event have one."""
    for table, column in (("events", "seal"), ("queries", "seal"), ("studies", "seal"), ("studies", "head")):
        op.add_column(table, sa.Column(column, sa.Text))
    connection = op.get_bind()
    for row in connection.execute(sa.text("SELECT * FROM studies")).mappings().all():
        head = _seal_events(connection, row["id"])
        _seal_queries(connection, row["id"])
        change = sa.text("UPDATE studies SET head = :head, seal = :seal WHERE id = :id")
        connection.execute(change, {"id": row["id"], "head": head, "seal": study_seal({**row, "head": head})})
    with op.batch_alter_table("events") as batch:
        batch.alter_column("seal", existing_type=sa.Text, nullable=False)
    connection.execute(sa.text("UPDATE gobetween_schema SET version = 2"))


def _seal_events(connection: sa.Connection, study: int) -> str:
    head, last = "", 0
    wanted = sa.text(f"SELECT * FROM events WHERE study = :study AND seq > :last ORDER BY seq LIMIT {PAGE}")
    change = sa.text("UPDATE events SET seal = :seal WHERE study = :study AND seq = :seq")
    while page := connection.execute(wanted, {"study": study, "last": last}).mappings().all():
        seals = []
        for row in page:
            head = event_seal(head, dict(row))
            seals.append({"study": study, "seq": row["seq"], "seal": head})
        connection.execute(change, seals)
        last = page[-1]["seq"]
    return head


def _seal_queries(connection: sa.Connection, study: int) -> None:
    last = -1
    wanted = sa.text(f"SELECT * FROM queries WHERE study = :study AND query > :last ORDER BY query LIMIT {PAGE}")
    change = sa.text("UPDATE queries SET seal = :seal WHERE study = :study AND query = :query")
    while page := connection.execute(wanted, {"study": study, "last": last}).mappings().all():
        connection.execute(change, [{"study": study, "query": row["query"], "seal": query_seal(dict(row))} for row in page])
        last = page[-1]["query"]
