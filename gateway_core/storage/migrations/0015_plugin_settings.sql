-- What the operator chose for each plugin. secrets is a JSON object from member to sealed text.
CREATE TABLE plugin_settings (
    plugin TEXT PRIMARY KEY,
    data TEXT NOT NULL,
    secrets TEXT
);
