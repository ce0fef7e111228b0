-- Sessions that were signed out of before their token expires.
CREATE TABLE ended_sessions (
    id TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
