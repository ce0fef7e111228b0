-- Addresses that were shut out after too many failures, where several processes count them. Times
-- are seconds of the machine's own clock since it started, and mean nothing to later processes.
CREATE TABLE lockouts (
    address TEXT PRIMARY KEY,
    locks BIGINT NOT NULL,
    until DOUBLE PRECISION NOT NULL,
    last DOUBLE PRECISION NOT NULL
);
