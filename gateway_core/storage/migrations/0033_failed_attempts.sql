-- Attempts of a call that gave no answer, as JSON; NULL where the first one did.
ALTER TABLE usage ADD COLUMN failures TEXT;
