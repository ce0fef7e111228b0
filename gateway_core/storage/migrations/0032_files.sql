-- Files of clients whose contents a plugin keeps. Without an id one is being written, since or until
-- touched_at (Unix seconds), or is to be removed, and then touched_at is 0.
CREATE TABLE files (
    content TEXT PRIMARY KEY,
    id TEXT UNIQUE,
    owner TEXT NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL DEFAULT 0,
    filename TEXT NOT NULL DEFAULT '',
    purpose TEXT NOT NULL DEFAULT '',
    expires_at BIGINT,
    touched_at DOUBLE PRECISION NOT NULL
);

CREATE INDEX files_owner ON files (owner, id);
