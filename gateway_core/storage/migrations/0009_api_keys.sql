-- The gateway's own keys. digest finds a key; secret is its sealed text; version is the number of
-- the group "keys" at the row's last change. Policy and combos are JSON.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    expires_at TEXT,
    allowed_combos TEXT NOT NULL,
    policy TEXT NOT NULL,
    daily_limit_tokens BIGINT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    version BIGINT NOT NULL
);

CREATE INDEX api_keys_by_version ON api_keys (version);

-- The accounts a key may use; none at all means every account.
CREATE TABLE api_key_connections (
    api_key_id TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    PRIMARY KEY (api_key_id, connection_id)
);

CREATE INDEX api_key_connections_by_connection ON api_key_connections (connection_id);
