"""Signing in: password, second factor, OpenID Connect, sessions and lockout."""
