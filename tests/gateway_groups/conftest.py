"""Fixtures of the stores."""

from migrated_databases import clock, database, migrated

__all__ = ["clock", "database", "migrated"]
