-- Sums of the table usage for each hour of UTC and each local day, filled in when they are read.
-- meta holds up to which row (usage_sums.seen) and which days are to be summed again
-- (usage_sums.soiled). They replace usage_days and usage_hours, which knew fewer figures.
DROP TABLE usage_days;

DROP TABLE usage_hours;

DELETE FROM meta WHERE key IN ('usage_days.seen', 'usage_days.soiled');

-- What calls have in common. An empty text stands for what is not known.
CREATE TABLE usage_parts (
    id BIGINT PRIMARY KEY,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    api_key_id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    combo_id TEXT NOT NULL,
    combo_name TEXT NOT NULL,
    status TEXT NOT NULL,
    UNIQUE (
        provider, model, connection_id, api_key_id, endpoint, combo_id, combo_name, status
    )
);

-- unit is 'hour', where at is 2027-01-15T08, or 'day', where at is 2027-01-15. unpriced_requests
-- counts calls that used something whose price is not known. took_100 counts the successful calls that took
-- 100 ms or longer in all, but not as long as the next column says; first_100 is the same of the
-- time until the first byte.
CREATE TABLE usage_sums (
    unit TEXT NOT NULL,
    at TEXT NOT NULL,
    part BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    unpriced_requests BIGINT NOT NULL,
    unpriced_tokens BIGINT NOT NULL,
    last_at TEXT NOT NULL,
    took_0 BIGINT NOT NULL,
    took_5 BIGINT NOT NULL,
    took_10 BIGINT NOT NULL,
    took_20 BIGINT NOT NULL,
    took_35 BIGINT NOT NULL,
    took_50 BIGINT NOT NULL,
    took_75 BIGINT NOT NULL,
    took_100 BIGINT NOT NULL,
    took_150 BIGINT NOT NULL,
    took_200 BIGINT NOT NULL,
    took_300 BIGINT NOT NULL,
    took_400 BIGINT NOT NULL,
    took_500 BIGINT NOT NULL,
    took_750 BIGINT NOT NULL,
    took_1000 BIGINT NOT NULL,
    took_1500 BIGINT NOT NULL,
    took_2000 BIGINT NOT NULL,
    took_3000 BIGINT NOT NULL,
    took_4000 BIGINT NOT NULL,
    took_5000 BIGINT NOT NULL,
    took_7500 BIGINT NOT NULL,
    took_10000 BIGINT NOT NULL,
    took_15000 BIGINT NOT NULL,
    took_20000 BIGINT NOT NULL,
    took_30000 BIGINT NOT NULL,
    took_45000 BIGINT NOT NULL,
    took_60000 BIGINT NOT NULL,
    took_90000 BIGINT NOT NULL,
    took_120000 BIGINT NOT NULL,
    took_180000 BIGINT NOT NULL,
    took_300000 BIGINT NOT NULL,
    took_600000 BIGINT NOT NULL,
    first_0 BIGINT NOT NULL,
    first_5 BIGINT NOT NULL,
    first_10 BIGINT NOT NULL,
    first_20 BIGINT NOT NULL,
    first_35 BIGINT NOT NULL,
    first_50 BIGINT NOT NULL,
    first_75 BIGINT NOT NULL,
    first_100 BIGINT NOT NULL,
    first_150 BIGINT NOT NULL,
    first_200 BIGINT NOT NULL,
    first_300 BIGINT NOT NULL,
    first_400 BIGINT NOT NULL,
    first_500 BIGINT NOT NULL,
    first_750 BIGINT NOT NULL,
    first_1000 BIGINT NOT NULL,
    first_1500 BIGINT NOT NULL,
    first_2000 BIGINT NOT NULL,
    first_3000 BIGINT NOT NULL,
    first_4000 BIGINT NOT NULL,
    first_5000 BIGINT NOT NULL,
    first_7500 BIGINT NOT NULL,
    first_10000 BIGINT NOT NULL,
    first_15000 BIGINT NOT NULL,
    first_20000 BIGINT NOT NULL,
    first_30000 BIGINT NOT NULL,
    first_45000 BIGINT NOT NULL,
    first_60000 BIGINT NOT NULL,
    first_90000 BIGINT NOT NULL,
    first_120000 BIGINT NOT NULL,
    first_180000 BIGINT NOT NULL,
    first_300000 BIGINT NOT NULL,
    first_600000 BIGINT NOT NULL,
    PRIMARY KEY (unit, at, part)
);
