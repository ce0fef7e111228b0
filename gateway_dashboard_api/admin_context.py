"""What every management route works with: the gateway's collaborators, and one write at a time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request

from gateway_core.contracts.provider import ProviderSpec
from gateway_core.contracts.wire import WireFormat
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import CALLER
from gateway_core.pipeline.context import Core
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.storage.stores import Stores

from .login.state import LoginState


class AdminContext:
    """The operator's desk of one gateway."""

    def __init__(self, core: Core, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.core = core
        self.login = LoginState(core, monotonic)
        self._writing = asyncio.Lock()

    @property
    def snapshot(self) -> ConfigSnapshot:
        """The stored configuration as routing sees it now."""
        return self.core.snapshot

    @property
    def stores(self) -> Stores:
        return self.core.stores

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write while nobody else does, so that what was checked still holds.

        Routing follows before this ends, even when the work inside fails half-way.
        """
        async with self._writing:
            try:
                yield
            finally:
                await self.core.refresh()

    def caller(self, request: Request) -> Caller:
        """Who asks, as the gate found out."""
        caller: Caller = request.scope[CALLER]
        return caller

    async def audit(
        self,
        request: Request,
        action: str,
        target: str | None = None,
        detail: Mapping[str, Any] = {},
    ) -> None:
        """Note an act before it is done. If this raises, it is not to be done."""
        caller = self.caller(request)
        await self.stores.audit.write(caller.actor, caller.peer.address, action, target, detail)

    def provider_id(self, name: str) -> str:
        """The provider that an id, alias or prefix means; the name itself when none is known."""
        return self.snapshot.registry.names.get(name, name)

    def spec(self, provider: str) -> ProviderSpec | None:
        return self.snapshot.registry.providers.get(provider)

    def prefix(self, provider: str) -> str:
        """What stands before the slash in the names of a provider's models."""
        spec = self.spec(provider)
        return provider if spec is None else spec.alias or spec.id

    def wire(self, spec: ProviderSpec) -> WireFormat:
        """The format a provider speaks."""
        return self.snapshot.registry.formats[spec.format]
