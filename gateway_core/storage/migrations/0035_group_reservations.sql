-- What calls under way may cost the groups of their keys at most. A call's rows are removed once its
-- usage row is written; "until", Unix seconds, ends those of a process that is gone.
CREATE TABLE group_reservations (
    request_id TEXT NOT NULL,
    group_name TEXT NOT NULL,
    process TEXT NOT NULL,
    until DOUBLE PRECISION NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (request_id, group_name)
);
