-- One row. secrets is a JSON object from setting to sealed text.
CREATE TABLE settings (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    data TEXT NOT NULL,
    secrets TEXT
);
