"""The assisted login at vendors whose accounts are a cookie (5.3)."""
