-- Calls whose price is not known, and their tokens, beside every sum of costs. The sums of days are
-- made again from the ledger, step by step, when somebody asks; those of keys count from now on.
ALTER TABLE usage_days ADD COLUMN unpriced_requests BIGINT NOT NULL DEFAULT 0;

ALTER TABLE usage_days ADD COLUMN unpriced_tokens BIGINT NOT NULL DEFAULT 0;

DELETE FROM usage_days;

DELETE FROM usage_hours;

DELETE FROM meta WHERE key IN ('usage_days.seen', 'usage_days.soiled');

ALTER TABLE key_days ADD COLUMN unpriced_requests BIGINT NOT NULL DEFAULT 0;

ALTER TABLE key_days ADD COLUMN unpriced_tokens BIGINT NOT NULL DEFAULT 0;

ALTER TABLE key_totals ADD COLUMN unpriced_requests BIGINT NOT NULL DEFAULT 0;

ALTER TABLE key_totals ADD COLUMN unpriced_tokens BIGINT NOT NULL DEFAULT 0;
