"""What the ledger says: sums, rows, exports, quotas and how long they are kept."""
