-- The names of keys, connections and nodes that were deleted, for the rows of the ledger that
-- mention them.
CREATE TABLE former_names (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);
