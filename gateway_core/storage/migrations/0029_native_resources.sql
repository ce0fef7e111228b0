-- What vendors keep for clients of the native facade, and whose it is. Without a key it belongs to
-- the operator. The first answer that tells what the work has used is claimed for one usage row;
-- "usage" has it until that row is certainly recorded.
CREATE TABLE native_resources (
    provider TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    family TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    api_key_id TEXT,
    model TEXT NOT NULL,
    created_at TEXT NOT NULL,
    request_id TEXT,
    claimed_at TEXT,
    usage TEXT,
    PRIMARY KEY (provider, connection_id, family, resource_id)
);

CREATE INDEX native_resources_open ON native_resources (claimed_at) WHERE usage IS NOT NULL;
