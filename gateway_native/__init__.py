"""The native facade: a vendor's own API behind the gateway's keys, policies, limits and ledger."""
