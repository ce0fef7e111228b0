"""Keys and accounts in any order of acts, against a few lines that say what is to come of it."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import httpx2
import pytest
from admin_gateway import AdminGateway, opened
from gateway_keys import PATH, chat, key_for, remote
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule
from manual_clock import Clock

from gateway_core.storage.moments import iso

T = TypeVar("T")
ACCOUNTS = "/api/providers"
ELSEWHERE = "webby"
"""A provider that does not serve what is asked for."""


class SharedGateway:
    """One gateway for all examples, and a caller from elsewhere."""

    admin: AdminGateway
    caller: httpx2.AsyncClient

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = Clock()
        self.numbers = count()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def open(self, folder: Any) -> None:
        self.admin = await self.stack.enter_async_context(opened(folder, {}, self.clock))
        self.caller = await self.stack.enter_async_context(remote(self.admin))
        await self.admin.connect(name="always")


SHARED = SharedGateway()


@pytest.fixture(scope="module", autouse=True)
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with SHARED.runner:
        SHARED.do(SHARED.open(tmp_path_factory.mktemp("data")))
        yield
        SHARED.do(SHARED.stack.aclose())


@dataclass
class Kept:
    """What is to be true of one key."""

    made: dict[str, Any]
    active: bool = True
    expires: float | None = None
    scope: set[str] = field(default_factory=set)
    gone: bool = False


class Ring(RuleBasedStateMachine):
    keys = Bundle("keys")
    accounts = Bundle("accounts")

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Kept] = []
        self.serving: set[str] = set()
        self.there: set[str] = set()

    @rule(target=keys, lasts=st.none() | st.integers(-5, 60), scope=st.sets(accounts, max_size=3))
    def create(self, lasts: int | None, scope: set[str]) -> Kept:
        scope = scope & self.there
        expires = None if lasts is None else SHARED.clock.now + lasts
        made = SHARED.do(
            key_for(
                SHARED.admin,
                expiresAt=None if expires is None else iso(expires),
                providerConnectionIds=sorted(scope),
            )
        )
        key = Kept(made, expires=expires, scope=scope)
        self.kept.append(key)
        return key

    @rule(key=keys, active=st.booleans())
    def pause_or_resume(self, key: Kept, active: bool) -> None:
        if self.put(key, isActive=active):
            key.active = active

    @rule(key=keys, lasts=st.none() | st.integers(-5, 60))
    def set_expiry(self, key: Kept, lasts: int | None) -> None:
        expires = None if lasts is None else SHARED.clock.now + lasts
        if self.put(key, expiresAt=None if expires is None else iso(expires)):
            key.expires = expires

    @rule(key=keys, scope=st.sets(accounts, max_size=3))
    def set_scope(self, key: Kept, scope: set[str]) -> None:
        is_known = scope <= self.there
        if self.put(key, 200 if is_known else 400, providerConnectionIds=sorted(scope)):
            key.scope = set(scope) if is_known else key.scope

    @rule(key=consumes(keys))
    def delete(self, key: Kept) -> None:
        status = 404 if key.gone else 200
        SHARED.do(SHARED.admin.call("DELETE", f"{PATH}/{key.made['id']}", status=status))
        key.gone = True

    @rule(target=accounts, serves=st.booleans())
    def add_account(self, serves: bool) -> str:
        provider = "acme" if serves else ELSEWHERE
        row = SHARED.do(SHARED.admin.connect(provider, name=f"a{next(SHARED.numbers)}"))
        identity: str = row["id"]
        self.there.add(identity)
        self.serving |= {identity} if serves else set()
        return identity

    @rule(target=accounts, account=consumes(accounts))
    def drop_account(self, account: str) -> Any:
        if account not in self.there:
            return multiple()
        held = any(not key.gone and key.scope == {account} for key in self.kept)
        path = f"{ACCOUNTS}/{account}"
        SHARED.do(SHARED.admin.call("DELETE", path, status=409 if held else 200))
        if not held:
            self.there.discard(account)
            for key in self.kept:
                key.scope.discard(account)
        return account

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds: int) -> None:
        SHARED.clock.move(seconds)

    @rule(key=keys)
    def call(self, key: Kept) -> None:
        answer = SHARED.do(chat(SHARED.caller, key.made))
        assert answer.status_code == self.wanted(key), answer.text

    def teardown(self) -> None:
        """Whatever was done, every key is as the last lines say; then they go."""
        for key in self.kept:
            assert SHARED.do(chat(SHARED.caller, key.made)).status_code == self.wanted(key)
            if not key.gone:
                row = SHARED.do(SHARED.admin.call("GET", f"{PATH}/{key.made['id']}"))
                assert set(row["providerConnectionIds"]) == key.scope
                assert row["isActive"] is key.active
                SHARED.do(SHARED.admin.call("DELETE", f"{PATH}/{key.made['id']}"))
        for account in self.there:
            SHARED.do(SHARED.admin.call("DELETE", f"{ACCOUNTS}/{account}"))

    def put(self, key: Kept, status: int = 200, **body: Any) -> bool:
        """Whether the key is still there to be changed."""
        path = f"{PATH}/{key.made['id']}"
        SHARED.do(SHARED.admin.call("PUT", path, body, status=404 if key.gone else status))
        return not key.gone

    def wanted(self, key: Kept) -> int:
        is_over = key.expires is not None and SHARED.clock.now >= key.expires
        if key.gone or not key.active or is_over:
            return 401
        return 200 if not key.scope or key.scope & self.serving else 404


TestRing = Ring.TestCase
TestRing.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
