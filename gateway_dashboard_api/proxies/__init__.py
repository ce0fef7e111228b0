"""Proxies that accounts share, and testing proxies."""
