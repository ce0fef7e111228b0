-- What a call used besides tokens: {"images": 2}; NULL where there is nothing of the kind.
ALTER TABLE usage ADD COLUMN units TEXT;
