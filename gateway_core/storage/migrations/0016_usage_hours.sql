-- Of the ledger's indexes the one by time is left, so that a row costs little to write. Rows of one
-- provider, model, account or status are found by the hours in which there are any. usage_hours
-- follows the table usage together with usage_days.
DROP INDEX usage_by_provider;

DROP INDEX usage_by_model;

DROP INDEX usage_by_connection;

DROP INDEX usage_by_key;

DROP INDEX usage_by_day;

DROP INDEX usage_by_status;

CREATE TABLE usage_hours (
    hour TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    status TEXT NOT NULL,
    requests BIGINT NOT NULL,
    PRIMARY KEY (hour, provider, model, connection_id, status)
);

INSERT INTO usage_hours
SELECT substr(finished_at, 1, 13), COALESCE(provider, ''), COALESCE(model_sent, ''),
    COALESCE(connection_id, ''), status, count(*)
FROM usage WHERE id <= COALESCE(
    (SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'usage_days.seen'), 0
)
GROUP BY 1, 2, 3, 4, 5;
