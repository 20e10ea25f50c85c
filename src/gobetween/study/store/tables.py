"""The tables. A change here needs a migration and a new SCHEMA number."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA = 1
metadata = MetaData()

schema = Table("gobetween_schema", metadata, Column("version_num", String(32), primary_key=True))  # as Alembic has it
studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("spec", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("snapshot", Text),
    Column("seq", BigInteger, nullable=False),
    Column("head", Text, nullable=False),
    Column("seal", Text, nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study", Integer, ForeignKey("studies.id")),
    Column("mediator", Integer),
    Column("label", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("made", Float(53), nullable=False),
    Column("expires", Float(53)),
    Column("revoked", Float(53)),
)
events = Table(
    "events",
    metadata,
    Column("study", Integer, ForeignKey("studies.id"), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at", Float(53), nullable=False),
    Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("query", BigInteger),
    Column("key", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Column("seal", Text, nullable=False),
    PrimaryKeyConstraint("study", "seq"),
    UniqueConstraint("study", "key", "part", name="events_key"),
)
queries = Table(
    "queries",
    metadata,
    Column("study", Integer, ForeignKey("studies.id"), nullable=False),
    Column("query", BigInteger, nullable=False),
    Column("mediator", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("slot", BigInteger),
    Column("arm", Integer),
    Column("reward", Float(53)),
    Column("worker", Text),
    Column("seal", Text, nullable=False),
    PrimaryKeyConstraint("study", "query"),
    Index("queries_status", "study", "status"),
)
outbox = Table(
    "outbox",
    metadata,
    Column("study", Integer, ForeignKey("studies.id"), nullable=False),
    Column("about", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("made", Float(53), nullable=False),
    Column("body", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("state", Text, nullable=False),  # waiting, sent or dead
    Column("due", Float(53), nullable=False),  # when it is tried next, and until when its taker has it
    Column("error", Text, nullable=False),
    PrimaryKeyConstraint("study", "about", "channel", "address"),
    Index("outbox_due", "study", "state", "due"),
)
