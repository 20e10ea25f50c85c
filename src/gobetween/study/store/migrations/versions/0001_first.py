"""Schema 1, which `tables.py` makes in a new store: where later migrations start."""

revision = "0001"
down_revision = None
