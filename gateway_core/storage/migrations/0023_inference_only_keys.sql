-- Whether a key is for inference only, and opens no management route.
ALTER TABLE api_keys ADD COLUMN inference_only BIGINT NOT NULL DEFAULT 0;
