-- Batches of requests. Times are Unix seconds. surface is 'completions' or 'messages'; total is NULL
-- until the input was checked. next_line and next_position say where in the input the first row
-- stands that was never begun. The process runner may write until leased_until; each process that
-- takes the batch over raises generation.
CREATE TABLE batches (
    id TEXT PRIMARY KEY,
    surface TEXT NOT NULL,
    owner TEXT NOT NULL,
    is_cli BIGINT NOT NULL,
    endpoint TEXT NOT NULL,
    input_file_id TEXT,
    headers TEXT NOT NULL,
    metadata TEXT,
    status TEXT NOT NULL,
    errors TEXT NOT NULL DEFAULT '[]',
    total BIGINT,
    completed BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    next_line BIGINT NOT NULL DEFAULT 1,
    next_position BIGINT NOT NULL DEFAULT 0,
    output_file_id TEXT,
    error_file_id TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    in_progress_at DOUBLE PRECISION,
    finalizing_at DOUBLE PRECISION,
    completed_at DOUBLE PRECISION,
    failed_at DOUBLE PRECISION,
    expired_at DOUBLE PRECISION,
    cancelling_at DOUBLE PRECISION,
    cancelled_at DOUBLE PRECISION,
    runner TEXT NOT NULL DEFAULT '',
    leased_until DOUBLE PRECISION NOT NULL DEFAULT 0,
    generation BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX batches_owner ON batches (owner, surface, id);

CREATE INDEX batches_status ON batches (status);

-- Rows that are under way: begun, and their answers not settled. tries counts how often one was
-- sent, kills how often its process was gone then.
CREATE TABLE batch_rows (
    batch_id TEXT NOT NULL,
    line BIGINT NOT NULL,
    position BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    kills BIGINT NOT NULL,
    PRIMARY KEY (batch_id, line)
);

-- The files of settled rows, one for each generation: how many of its bytes count, and the last row
-- of the ledger when it was begun.
CREATE TABLE batch_parts (
    batch_id TEXT NOT NULL,
    generation BIGINT NOT NULL,
    length BIGINT NOT NULL,
    ledger_id BIGINT NOT NULL,
    PRIMARY KEY (batch_id, generation)
);
