"""Measures what the gateway costs beside a plain proxy; see README.md in this folder."""
