"""What every management route works with: the gateway's collaborators, and one write at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway_core.contracts.provider import ProviderSpec
from gateway_core.contracts.wire import WireFormat
from gateway_core.inference.core import Core
from gateway_core.inference.tables import Tables
from gateway_core.storage.stores import Stores


class Desk:
    """The operator's desk of one gateway."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self._writing = asyncio.Lock()

    @property
    def tables(self) -> Tables:
        """The stored configuration as routing sees it now."""
        return self.core.tables

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

    def provider_id(self, name: str) -> str:
        """The provider that an id, alias or prefix means; the name itself when none is known."""
        return self.tables.registry.names.get(name, name)

    def spec(self, provider: str) -> ProviderSpec | None:
        return self.tables.registry.providers.get(provider)

    def prefix(self, provider: str) -> str:
        """What stands before the slash in the names of a provider's models."""
        spec = self.spec(provider)
        return provider if spec is None else spec.alias or spec.id

    def wire(self, spec: ProviderSpec) -> WireFormat:
        """The format a provider speaks."""
        return self.tables.registry.formats[spec.format]
