-- What was said in a request, beside its row in usage. The four parts are JSON, cut to size.
CREATE TABLE request_details (
    request_id TEXT PRIMARY KEY,
    finished_at TEXT NOT NULL,
    request TEXT NOT NULL,
    provider_request TEXT NOT NULL,
    provider_response TEXT NOT NULL,
    response TEXT NOT NULL
);

CREATE INDEX request_details_by_time ON request_details (finished_at, request_id);

-- Sums of the table usage for each local day, filled in when they are asked for. meta holds up to
-- which row (usage_days.seen) and which days are to be summed again (usage_days.soiled). An empty
-- text stands for what is not known.
CREATE TABLE usage_days (
    day TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    api_key_id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    combo_id TEXT NOT NULL,
    combo_name TEXT NOT NULL,
    status TEXT NOT NULL,
    requests BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    last_at TEXT NOT NULL,
    PRIMARY KEY (
        day, provider, model, connection_id, api_key_id, endpoint, combo_id, combo_name, status
    )
);

CREATE INDEX usage_by_status ON usage (status, finished_at);

-- With the id in it, a page far back is found without a look at the rows before it.
DROP INDEX usage_by_time;

CREATE INDEX usage_by_time ON usage (finished_at, id);
