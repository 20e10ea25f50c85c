"""Stores: SQLite (a file beside the study), PostgreSQL (by URL, for many workers), memory (for tests)."""
