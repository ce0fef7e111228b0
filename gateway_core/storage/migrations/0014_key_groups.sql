-- Labels that the operator gives to gateway keys; they change nothing about what a key may call.
CREATE TABLE key_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    color TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE key_group_members (
    group_id TEXT NOT NULL,
    api_key_id TEXT NOT NULL,
    PRIMARY KEY (group_id, api_key_id)
);

CREATE INDEX key_group_members_by_key ON key_group_members (api_key_id);
