"""Renewing the tokens of accounts: before they expire, and when a vendor refuses one.

```text
every few seconds   a token that expires soon ──┐
a call's 401        the token that it showed  ──┤
                                                ▼
                             a lease in the database: one process renews an account
                                                │ the row is read again
                             its token is another one ──▶ somebody has renewed it: done
                                                │
                             refresh token ──▶ vendor ──▶ the row, then everybody's snapshot
```

Vendors that rotate refresh tokens take one twice for theft, so no two requests ever show the same
one: neither of this process (one task an account), nor of another (the lease).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from gateway_administration.stores.leases import LeaseStore
from gateway_core.contracts.errors import GatewayError, UpstreamError
from gateway_core.contracts.provider import OAuth, ProviderSpec
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import Account
from gateway_core.storage.moments import iso, seconds
from gateway_core.storage.stores.connection import Connection, ConnectionChange

from .protocol import Grant, LoginRefused, read_grant, refresh_request
from .token_calls import LIMIT, call

EARLY = 300.0
"""Seconds before its end that a token is renewed, or a quarter of its life where that is less."""
LEASE = LIMIT + 15.0
"""Seconds; more than a renewal takes, so that no lease ends while one is under way."""
LOOK_EVERY = 0.2
"""Seconds between two looks for the end of another process's lease."""
YOUNGEST = 10.0
"""A token that is refused within so many seconds is not renewed: another would be refused too."""
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 600.0
"""Seconds until a vendor is asked again that could not answer."""
REAUTH = "reauth_required"
"""The ``testStatus`` of an account whose login has ended."""
ENDED = "The vendor has ended this login; sign in again"
_OVER = ("invalid_grant", "access_denied", "expired_token")
"""Words of a vendor after which a refresh token is of no more use (RFC 6749, section 5.2)."""

log = logging.getLogger(__name__)


class LoginEnded(UpstreamError):
    """A person has to sign in again before this account can be used."""

    def __init__(self) -> None:
        super().__init__(ENDED, status=401, code="login_ended")


class Renewals:
    """The renewals of one process."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._under_way: dict[str, asyncio.Task[None]] = {}
        """By account; each outlives the call that wanted it, whose client may go away."""
        self._pauses: dict[str, tuple[float, float]] = {}
        """By account: until when nothing is tried, and how long that pause was. Unix seconds."""

    async def renew(self, spec: ProviderSpec, account: Account) -> Account | None:
        """The account with a newer token than the one it has; ``None`` where there is none.

        Raises LoginEnded.
        """
        is_joined = True
        while is_joined:  # What is under way may have begun for an older token.
            current = self._current(account)
            if current is None or current.credential.secret != account.credential.secret:
                return current
            if current.state.get("testStatus") == REAUTH:
                raise LoginEnded
            is_joined = account.id in self._under_way
            if not is_joined and self._is_paused(account, self._core.clock()):
                return None
            await self._wait(self._task(spec, account, is_refused=True))
        current = self._current(account)
        is_newer = current and current.credential.secret != account.credential.secret
        return current if is_newer else None

    async def look(self) -> None:
        """Renew each token that expires soon."""
        now, snapshot = self._core.clock(), self._core.snapshot
        due = [each for each in self._logins() if is_due(each.state, now)]
        self._pauses = {id: each for id, each in self._pauses.items() if now < each[0] + each[1]}
        for account in due:
            spec = snapshot.registry.providers[account.provider]
            if not self._is_paused(account, now):
                self._task(spec, account, is_refused=False)
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def close(self) -> None:
        """Wait for what is under way: a vendor may have given a token that must be stored."""
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()), timeout=LEASE)

    @asynccontextmanager
    async def leased(self, account: str) -> AsyncIterator[None]:
        """Keep every other process from an account's tokens. Raises UpstreamError after a while."""
        work, clock = f"login.{account}", self._core.clock
        leases, began = LeaseStore(self._core.stores.database), clock()
        while not await leases.take(work, now := clock(), until := now + LEASE):
            if not 0 <= now - began < LEASE:
                raise UpstreamError("Another process is renewing this login", status=503)
            await asyncio.sleep(LOOK_EVERY)
        try:
            yield
        finally:
            await leases.give_back(work, until)

    def _logins(self) -> Iterator[Account]:
        for accounts in self._core.snapshot.accounts.values():
            yield from (each for each in accounts if each.is_login)

    def _current(self, account: Account) -> Account | None:
        accounts = self._core.snapshot.accounts.get(account.provider, ())
        return next((each for each in accounts if each.id == account.id), None)

    def _is_paused(self, account: Account, now: float) -> bool:
        return now < self._pauses.get(account.id, (0.0, 0.0))[0]

    async def _wait(self, task: asyncio.Task[None]) -> None:
        # A renewal that is cut off in the middle would lose what the vendor has just given.
        await asyncio.shield(asyncio.wait([task]))
        if not task.cancelled() and isinstance(error := task.exception(), LoginEnded):
            raise LoginEnded from error

    def _task(
        self, spec: ProviderSpec, account: Account, *, is_refused: bool
    ) -> asyncio.Task[None]:
        task = self._under_way.get(account.id)
        if task is None:
            task = asyncio.create_task(self._renew(spec, account, is_refused))
            self._under_way[account.id] = task
            task.add_done_callback(lambda done: self._ended(account, done))
        return task

    def _ended(self, account: Account, task: asyncio.Task[None]) -> None:
        del self._under_way[account.id]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._pauses.pop(account.id, None)
            return
        pause = self._pauses.get(account.id, (0.0, FIRST_PAUSE / 2))[1] * 2
        pause = min(pause, LONGEST_PAUSE)
        self._pauses[account.id] = (self._core.clock() + pause, pause)
        # Only errors of ours are sure to hold nothing secret.
        said = error.message if isinstance(error, GatewayError) else type(error).__name__
        log.warning(
            "the login of account %s at %s was not renewed: %s", account.id, account.provider, said
        )

    async def _renew(self, spec: ProviderSpec, account: Account, is_refused: bool) -> None:
        """Replace an account's token, unless somebody has done so. Raises UpstreamError."""
        core, login = self._core, spec.oauth
        if login is None:
            return
        async with self.leased(account.id):
            row = await core.stores.connections.get(account.id)
            if row is not None and not row.broken and is_same(row, account):
                await self._replace(spec, login, account, row, is_refused)
        await core.refresh()

    async def _replace(
        self,
        spec: ProviderSpec,
        login: OAuth,
        account: Account,
        row: Connection,
        is_refused: bool,
    ) -> None:
        core, token = self._core, row.secrets.get("refreshToken")
        if not isinstance(token, str):
            if is_refused or core.clock() >= moment(row.data.get("expiresAt")):
                await self._end(row, "login_ended")
            return
        if 0 <= core.clock() - moment(row.data.get("lastRefreshAt")) < YOUNGEST:
            return
        request = refresh_request(login, token)
        status, body = await call(core, spec, request, account.proxy)
        try:
            grant = read_grant(status, body, login, (token, login.client_secret or ""))
        except LoginRefused as error:
            if error.code not in _OVER:
                raise
            await self._end(row, error.code)
        change = ConnectionChange(data=token_members(grant, core.clock()))
        await core.stores.connections.update(row.id, change)
        log.info("the login of account %s at %s is renewed", row.id, spec.id)

    async def _end(self, row: Connection, code: str) -> None:
        """Say that a person has to sign in again. Raises LoginEnded."""
        await self._core.stores.connections.update(row.id, ended(self._core.clock(), code))
        await self._core.refresh()
        raise LoginEnded


def is_same(row: Connection, account: Account) -> bool:
    return row.secrets.get("accessToken") == account.credential.secret


def token_members(grant: Grant, now: float) -> dict[str, Any]:
    """The members of an account that a grant sets. A refresh token that is not replaced stays
    (RFC 6749, section 6)."""
    if grant.is_key:
        return {"apiKey": grant.secret}
    members: dict[str, Any] = {
        "accessToken": grant.secret,
        "tokenType": "Bearer",
        "lastRefreshAt": iso(now),
        "expiresIn": grant.expires_in,
        "expiresAt": None if grant.expires_in is None else iso(now + grant.expires_in),
    }
    if grant.refresh_token is not None:
        members["refreshToken"] = grant.refresh_token
    if grant.scope is not None:
        members["scope"] = grant.scope
    return members


def ended(now: float, code: str) -> ConnectionChange:
    """What an account says once a person has to sign in again."""
    return ConnectionChange(
        data={
            "refreshToken": None,
            "testStatus": REAUTH,
            "lastError": ENDED,
            "lastErrorAt": iso(now),
            "errorCode": code,
        }
    )


def is_due(state: Mapping[str, Any], now: float) -> bool:
    """Whether a token expires soon, or has; one without an end never does."""
    if state.get("testStatus") == REAUTH:
        return False
    life = state.get("expiresIn")
    early = min(EARLY, life / 4) if isinstance(life, int | float) else EARLY
    end = moment(state.get("expiresAt"))
    return end > 0 and now >= end - early


def moment(text: Any) -> float:
    """Unix seconds of a stored moment; 0 where there is none."""
    try:
        return seconds(text) if isinstance(text, str) else 0.0
    except ValueError:
        return 0.0
