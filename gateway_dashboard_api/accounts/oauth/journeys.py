"""Logins under way: what the vendor is told once, kept, sealed, until a person has signed in.

Everything is in the database, so that each step may reach another worker or gateway; each login
is good once, ends by itself, and there are at most ``MOST`` of a kind.
"""

from msgspec import Struct

from gateway_administration.stores.tickets import Purpose

from .protocol import LONGEST_DEVICE_LOGIN

LIFETIME = 600.0
"""Seconds for which a browser may be away at the vendor."""
MOST = 100
"""Logins of a kind at once; the oldest goes."""
TICKET_BYTES = 32
BROWSER = Purpose(name="oauth-login", lifetime=LIFETIME, most=MOST)
DEVICE = Purpose(name="oauth-device", lifetime=LONGEST_DEVICE_LOGIN, most=MOST)


class BrowserLogin(Struct, frozen=True, kw_only=True):
    """A browser that is away at a vendor; the ticket is its ``state``."""

    provider: str
    redirect_uri: str
    verifier: str

    def __repr__(self) -> str:
        return f"BrowserLogin({self.provider!r})"


class DeviceLogin(Struct, frozen=True, kw_only=True):
    """A code that a person types in somewhere; the ticket stands for the vendor's device code."""

    provider: str
    device_code: str
    expires_at: float
    """Unix seconds, as the next ones."""
    asked_at: float = 0.0
    interval: float
    """Seconds between two questions."""

    def __repr__(self) -> str:
        return f"DeviceLogin({self.provider!r})"
