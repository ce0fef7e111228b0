-- One row for each finished call. Times in milliseconds, cost in millionths of a dollar.
CREATE TABLE usage (
    id BIGINT PRIMARY KEY,
    request_id TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT NOT NULL,
    provider TEXT,
    model_asked TEXT NOT NULL,
    model_sent TEXT,
    connection_id TEXT,
    api_key_id TEXT,
    endpoint TEXT NOT NULL,
    client_format TEXT,
    upstream_format TEXT,
    stream BIGINT NOT NULL,
    status TEXT NOT NULL,
    http_status BIGINT,
    error_code TEXT,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    cost BIGINT,
    ttft_ms BIGINT,
    duration_ms BIGINT NOT NULL,
    combo_id TEXT,
    combo_name TEXT,
    attempts BIGINT NOT NULL,
    dropped TEXT NOT NULL
);

CREATE INDEX usage_by_time ON usage (finished_at);

CREATE INDEX usage_by_provider ON usage (provider, finished_at);

CREATE INDEX usage_by_model ON usage (model_sent, finished_at);

CREATE INDEX usage_by_connection ON usage (connection_id, finished_at);

CREATE INDEX usage_by_key ON usage (api_key_id, finished_at);
