-- Named chains of models. models, members, capabilities and allowed_connection_ids are JSON.
CREATE TABLE combos (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT,
    models TEXT NOT NULL,
    members TEXT,
    capabilities TEXT,
    allowed_connection_ids TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
