-- Facts about the database itself; version.<group> grows with every write to a group.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
