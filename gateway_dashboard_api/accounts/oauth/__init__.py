"""Logins at vendors that offer OAuth to third parties: begun, finished, renewed, revoked."""
