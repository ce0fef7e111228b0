"""Debugging translation."""
