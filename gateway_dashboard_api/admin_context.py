"""The context of the admin API's routes: the gateway's core, and a lock for writes."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any

from starlette.requests import Request

from gateway_administration.stores import AdminStores, admin_stores_on
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.contracts.wire import WireFormat
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.storage.stores import Stores

from .audit_detail import Row, changes_of, name_of
from .login.state import LoginState
from .system.compressor import Compressor, compressor_of
from .usage.ledger.reports import UsageReports


class AdminContext:
    """What the admin API of one gateway works with."""

    def __init__(
        self, core: Collaborators, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.core = core
        self._monotonic = monotonic
        self._writing = asyncio.Lock()

    @property
    def snapshot(self) -> ConfigSnapshot:
        """The stored configuration as routing sees it."""
        return self.core.snapshot

    @property
    def stores(self) -> Stores:
        return self.core.stores

    @cached_property
    def own_stores(self) -> AdminStores:
        """What the gateway does not read while it serves, and writing what it reads."""
        return admin_stores_on(self.core.stores, clock=self.core.clock)

    @cached_property
    def login(self) -> LoginState:
        return LoginState(self.core, self.own_stores, self._monotonic)

    @property
    def compressor(self) -> Compressor:
        return compressor_of(self.core)

    @cached_property
    def reports(self) -> UsageReports:
        """What the ledger says."""
        return UsageReports(self.stores.database, self.stores.usage)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Hold the write lock, so that what was checked still holds when it is stored.

        Routing is refreshed before this ends, even when the work inside fails.
        """
        async with self._writing:
            try:
                yield
            finally:
                await self.core.refresh()

    def caller(self, request: Request) -> Caller:
        """Return the caller that authentication found."""
        caller: Caller = request.scope[CALLER]
        return caller

    async def audit(
        self,
        request: Request,
        action: str,
        target: str | None = None,
        detail: Mapping[str, Any] = {},
    ) -> None:
        """Write an audit row. Called before the act, which must not happen if this raises."""
        caller = self.caller(request)
        await self.stores.audit.write(caller.actor, caller.peer.address, action, target, detail)

    async def audit_change(
        self,
        request: Request,
        action: str,
        target: str | None,
        before: Row | None,
        after: Row | None,
    ) -> None:
        """Write an audit row with old and new values, before the change is made.

        ``before`` is ``None`` for something new; ``after`` has the members that are set, or is
        ``None`` where everything goes.
        """
        detail: dict[str, Any] = {"changes": changes_of(before, after)}
        if (name := name_of(before, after)) is not None:
            detail["name"] = name
        await self.audit(request, action, target, detail)

    def provider_id(self, name: str) -> str:
        """Return the provider's id for an id, alias or prefix; the name itself when unknown."""
        return self.snapshot.registry.names.get(name, name)

    def spec(self, provider: str) -> ProviderSpec | None:
        return self.snapshot.registry.providers.get(provider)

    def prefix(self, provider: str) -> str:
        """Return the prefix before the slash in the names of a provider's models."""
        spec = self.spec(provider)
        return provider if spec is None else spec.alias or spec.id

    def wire(self, spec: ProviderSpec) -> WireFormat:
        """Return the provider's wire format."""
        return self.snapshot.registry.formats[spec.format]
