-- Changes of the database engine, and what became of them. ok is 1 or 0.
CREATE TABLE database_log (
    id BIGINT PRIMARY KEY,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    ok BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    schema_version BIGINT,
    tables_migrated BIGINT,
    rows_migrated BIGINT,
    error_code TEXT,
    error_message TEXT
);
