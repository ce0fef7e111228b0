-- Where several processes serve, they count failures together.
ALTER TABLE lockouts ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
