-- Names that the operator gives to sets of accounts; they change nothing about routing.
CREATE TABLE connection_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE connection_group_members (
    group_id TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    PRIMARY KEY (group_id, connection_id)
);
