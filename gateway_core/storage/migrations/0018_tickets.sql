-- What stands for something for a short while and can be given up once. id is a digest of the
-- ticket's text, value is sealed, times are Unix seconds.
CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    owner TEXT NOT NULL,
    value TEXT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);
