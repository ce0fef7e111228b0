-- What each key used: by local day, kept in step with the table usage, and in all. Tokens and
-- millionths of a dollar. day is the local date on which a call ended.
ALTER TABLE usage ADD COLUMN day TEXT NOT NULL DEFAULT '';

CREATE INDEX usage_by_day ON usage (day);

CREATE TABLE key_days (
    api_key_id TEXT NOT NULL,
    day TEXT NOT NULL,
    requests BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, day)
);

CREATE TABLE key_totals (
    api_key_id TEXT PRIMARY KEY,
    requests BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL
);
