"""Stores: SQLite (a file beside the study), PostgreSQL (by URL, for many workers). Read `database` and
`database_record` first; `engines` and `postgres` connect, `tables` and `schema` say what is kept, `outbox` holds messages,
`checksums` tell damage, `copies` back up, `failures` says what went wrong.
"""
