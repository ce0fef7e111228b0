"""Plugins: which are loaded, their switches and their settings."""
