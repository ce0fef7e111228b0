"""Signing in to the dashboard: passwords and the second factor."""
