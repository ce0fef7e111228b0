-- Sessions of the dashboard, so that a person can see and end them. Their tokens are signed and not
-- stored; epoch is the one they were issued in.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    method TEXT NOT NULL,
    name TEXT,
    email TEXT,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    through_tunnel BIGINT NOT NULL,
    epoch TEXT,
    created_at TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
