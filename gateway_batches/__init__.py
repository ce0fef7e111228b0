"""Batches: many requests in one, which are worked off behind interactive traffic."""
