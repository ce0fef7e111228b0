"""Accounts at providers: how they are stored, shown, tested and grouped."""
