-- Accounts at providers. data is JSON without secrets; secrets is a sealed JSON object.
CREATE TABLE connections (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    auth_type TEXT NOT NULL,
    name TEXT,
    email TEXT,
    priority BIGINT NOT NULL,
    is_active BIGINT NOT NULL,
    data TEXT NOT NULL,
    secrets TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE INDEX connections_by_provider ON connections (provider, priority);

CREATE UNIQUE INDEX connections_by_key_name ON connections (provider, name)
WHERE auth_type = 'apikey';
