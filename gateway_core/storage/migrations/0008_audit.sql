-- Who did what at the desk. Rows are only ever added.
CREATE TABLE audit (
    id BIGINT PRIMARY KEY,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    address TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    detail TEXT NOT NULL
);

CREATE INDEX audit_by_action ON audit (action, id);
