-- What plugins noted about a call, as JSON; NULL where they noted nothing.
ALTER TABLE usage ADD COLUMN notes TEXT;
