"""The assisted login for accounts that are a cookie: its host, and the sign-ins under way (5.3).

```text
start ──grant──► bootstrap ──cookie──► the vendor's pages ──captured──► finish
```

A grant opens one browser once, within two minutes. Everything is in memory:
a sign-in ends with the process, or ten minutes after it began.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from .credentials import origin_of
from .peers import host_of, is_loopback
from .tickets import Tickets

PATH = "/__web_login"
BOOTSTRAP = PATH + "/bootstrap"
GRANT_LIFETIME = 120.0
LIFETIME = 600.0
"""Seconds, both."""
MOST = 100
"""Sign-ins at once; the oldest goes."""
TICKET_BYTES = 16
LONGEST_CAPTURE = 16 * 1024


def login_origin(configured: str | None, public_origin: str) -> str:
    """The origin that assisted logins are served at; empty where there are none.

    ``configured`` is what the operator set. It counts when it is an origin and
    nothing more, with another host name than the dashboard's. Without a public
    origin the dashboard has every name of this machine.
    """
    origin = origin_of(configured or "")
    if not configured or not origin:
        return ""
    parts = urlsplit(configured.strip())
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return ""
    host, own = _name(origin), _name(origin_of(public_origin))
    is_own = host == own if own else host == "localhost" or is_loopback(host)
    return "" if is_own else origin


def isolated_host(configured: str | None, public_origin: str) -> str:
    """The host name of ``login_origin``; empty where there is none."""
    return _name(login_origin(configured, public_origin))


def _name(origin: str) -> str:
    return host_of(origin.partition("://")[2])


class SignIn(Struct, kw_only=True):
    """One sign-in at one provider."""

    provider: str
    expires_at: float
    """Unix seconds."""
    is_open: bool = False
    """True once a browser has come with the grant."""
    captured: str | None = None
    """The account's cookies, once the provider's plugin has them."""
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """``waiting`` for a browser, ``open`` or ``captured``."""
        if self.captured is not None:
            return "captured"
        return "open" if self.is_open else "waiting"

    def __repr__(self) -> str:
        return f"SignIn({self.provider!r}, {self.state})"


class StartedSignIn(Struct, frozen=True):
    """The beginning of a sign-in."""

    id: str
    grant: str
    grant_expires_at: float
    """Unix seconds."""

    def __repr__(self) -> str:
        return "Started()"


class SignIns:
    """The sign-ins under way. ``clock`` gives Unix seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._by_id = self._tickets(LIFETIME)
        self._grants = self._tickets(GRANT_LIFETIME)
        self._cookies = self._tickets(LIFETIME)

    def _tickets(self, lifetime: float) -> Tickets[SignIn]:
        return Tickets(lifetime, self._clock, size=TICKET_BYTES, most=MOST)

    def start(self, provider: str) -> StartedSignIn:
        now = self._clock()
        sign_in = SignIn(provider=provider, expires_at=now + LIFETIME)
        grant = self._grants.give(sign_in)
        return StartedSignIn(self._by_id.give(sign_in), grant, now + GRANT_LIFETIME)

    def is_granted(self, grant: str) -> bool:
        """Whether a grant could still be used."""
        return self._grants.look(grant) is not None

    def enter(self, grant: str) -> tuple[str, SignIn] | None:
        """Use a grant up: the text of a cookie, and the sign-in it opens."""
        sign_in = self._grants.take(grant)
        if sign_in is None:
            return None
        sign_in.is_open = True
        return self._cookies.give(sign_in), sign_in

    def by_cookie(self, text: str | None, provider: str) -> SignIn | None:
        """The sign-in of a browser, at this provider and no other."""
        sign_in = None if text is None else self._cookies.look(text)
        if sign_in is None or sign_in.provider != provider:
            return None
        return sign_in if self._clock() < sign_in.expires_at else None

    def by_id(self, identity: str) -> SignIn | None:
        return self._by_id.look(identity)

    def end(self, sign_in: SignIn) -> None:
        """Forget a sign-in and everything that leads to it."""
        for tickets in (self._by_id, self._grants, self._cookies):
            tickets.drop(lambda each: each is sign_in)


def is_cookie_text(text: str) -> bool:
    """Whether a text can stand in a Cookie header."""
    return 0 < len(text) <= LONGEST_CAPTURE and text.isascii() and text.isprintable()
