-- What the client was answered when a call failed, without secrets.
ALTER TABLE usage ADD COLUMN error TEXT;
