from migrated_databases import clock, database, migrated  # noqa: F401  # fixtures
