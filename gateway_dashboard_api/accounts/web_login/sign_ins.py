"""The assisted logins under way, for accounts that are a cookie (5.3).

```text
start ──grant──► bootstrap ──cookie──► the vendor's pages ──captured──► finish
```

A grant opens one browser once, within two minutes, and a sign-in ends ten minutes after it
began. Everything is in the database, so each step may reach another worker or gateway.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from gateway_administration.stores.tickets import Purpose
from gateway_core.contracts.errors import Conflict, GatewayError, NotFound
from gateway_core.pipeline.context import Collaborators

from ...tickets import Tickets
from .memory import apply_changes, read_memory, write_memory

PATH = "/__web_login"
BOOTSTRAP = PATH + "/bootstrap"
GRANT_LIFETIME = 120.0
LIFETIME = 600.0
"""Seconds, both."""
MOST = 100
"""Sign-ins at once; the oldest goes."""
TICKET_BYTES = 16
LONGEST_CAPTURE = 16 * 1024
GONE = "There is no such assisted login, or it has ended"


class SignIn(Struct, frozen=True, kw_only=True):
    """One sign-in at one provider."""

    provider: str
    expires_at: float
    """Unix seconds."""
    is_open: bool = False
    """True once a browser has come with the grant."""
    captured: str | None = None
    """The account's cookies, once the provider's plugin has them."""
    memory: bytes = b""
    """The plugin's, see ``read_memory``."""

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
    """The sign-ins under way at all gateways on the database. ``clock`` gives Unix seconds."""

    def __init__(self, core: Collaborators, clock: Callable[[], float]) -> None:
        self._clock = clock

        def purpose(name: str, lifetime: float) -> Purpose:
            return Purpose(name=name, lifetime=lifetime, most=MOST)

        size = TICKET_BYTES
        self._by_id = Tickets(core, SignIn, purpose("web-login", LIFETIME), size=size)
        # Grants and cookies stand for the id, so without the sign-in they lead nowhere.
        self._grants = Tickets(core, str, purpose("web-login-grant", GRANT_LIFETIME), size=size)
        self._cookies = Tickets(core, str, purpose("web-login-cookie", LIFETIME), size=size)

    async def start(self, provider: str) -> StartedSignIn:
        now = self._clock()
        id = await self._by_id.issue(SignIn(provider=provider, expires_at=now + LIFETIME))
        return StartedSignIn(id, await self._grants.issue(id), now + GRANT_LIFETIME)

    async def is_granted(self, grant: str) -> bool:
        """Whether a grant could still be used."""
        id = await self._grants.find(grant)
        return id is not None and await self.by_id(id) is not None

    async def enter(self, grant: str) -> tuple[str, SignIn] | None:
        """Use a grant up: the text of a cookie, and the sign-in it opens."""
        id = await self._grants.redeem(grant)
        if id is None:
            return None
        await self._by_id.revise(id, lambda now: msgspec.structs.replace(now, is_open=True))
        sign_in = await self.by_id(id)
        return None if sign_in is None else (await self._cookies.issue(id), sign_in)

    async def by_cookie(self, text: str | None, provider: str) -> tuple[str, SignIn] | None:
        """The id and the sign-in of a browser, at this provider and no other."""
        id = None if text is None else await self._cookies.find(text)
        sign_in = None if id is None else await self.by_id(id)
        if id is None or sign_in is None or sign_in.provider != provider:
            return None
        return id, sign_in

    async def by_id(self, id: str) -> SignIn | None:
        sign_in = await self._by_id.find(id)
        return sign_in if sign_in is not None and self._clock() < sign_in.expires_at else None

    async def note(
        self,
        id: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        captured: str | None,
    ) -> None:
        """Store what a page has changed in the memory, and the cookies it has captured.

        Pages of one sign-in may be served at once, by several gateways: each keeps what
        the others have changed. Raises PluginBroken for what cannot be stored.
        """
        if captured is None and before == after:
            return

        def decide(now: SignIn) -> SignIn:
            memory = write_memory(apply_changes(read_memory(now.memory), before, after))
            cookies = now.captured if captured is None else captured
            return msgspec.structs.replace(now, memory=memory, captured=cookies)

        await self._by_id.revise(id, decide)

    @asynccontextmanager
    async def finishing(self, id: str) -> AsyncIterator[tuple[str, str]]:
        """The provider and the captured cookies, for one caller only.

        The sign-in has ended afterwards, unless the work inside is refused.
        Raises NotFound, Conflict.
        """
        sign_in = await self.by_id(id)
        if sign_in is not None and sign_in.captured is None:
            raise Conflict("The sign-in is not complete", code="web_login_pending")
        sign_in = sign_in and await self._by_id.redeem(id)
        if sign_in is None or sign_in.captured is None:
            raise NotFound(GONE)
        try:
            yield sign_in.provider, sign_in.captured
        except GatewayError:
            await self._by_id.restore(id, sign_in)
            raise

    async def end(self, id: str) -> bool:
        """End a sign-in; ``False`` where there is none."""
        return await self._by_id.redeem(id) is not None


def is_cookie_text(text: str) -> bool:
    """Whether a text can stand in a Cookie header."""
    return 0 < len(text) <= LONGEST_CAPTURE and text.isascii() and text.isprintable()
