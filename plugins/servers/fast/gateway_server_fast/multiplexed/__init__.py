"""Connections with many requests at once: HTTP/2, as RFC 9113 defines it."""
