-- Proxies that accounts share. proxy_url is sealed text, for it may hold a user and a password.
CREATE TABLE proxy_pools (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    proxy_url TEXT NOT NULL,
    no_proxy TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    strict_proxy BIGINT NOT NULL,
    test_status TEXT,
    last_tested_at TEXT,
    last_error TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
