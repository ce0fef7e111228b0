"""The tools of all instances as one list, their calls, and the row that each call leaves."""

import asyncio
import logging
from collections.abc import Mapping
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import GatewayError, Host, Model, ProviderSpec, Target, Usage
from gateway_core.metering.request_record import RequestRecord

from .instances import Instance, InstanceStore
from .keys import KeyStore, McpKey
from .links import Links
from .settings import Settings

SEPARATOR = "__"
PROVIDER = ProviderSpec(id="mcp-gateway", name="MCP gateway", free=True)
"""Stands in the ledger for every instance; nothing can be routed to it."""
ENDPOINT, FORMAT = "/api/mcp-gateway", "mcp"

log = logging.getLogger(__name__)


class UnknownTool(GatewayError):
    """No instance has the tool, or the caller may not know of it."""

    status, code = 404, "unknown_tool"


class Asker(Struct, frozen=True):
    """Who uses the endpoint."""

    key: McpKey | None
    """``None`` for the command line and for callers on this machine, who may call all tools."""

    def may_call(self, slug: str, tool: str) -> bool:
        return self.key is None or self.key.may_call(slug, tool)

    def may_see(self, slug: str) -> bool:
        return self.key is None or bool(self.key.grants.get(slug))


class Tools:
    """Of one gateway."""

    def __init__(self, host: Host) -> None:
        self.core = host.core
        self._host = host
        self.instances, self.keys = InstanceStore(self.core), KeyStore(self.core)
        self.links = Links(self.core, self.settings)

    def settings(self) -> Settings:
        """As they are now."""
        return msgspec.convert(self._host.settings, Settings, from_attributes=True)

    async def list(self, asker: Asker) -> list[dict[str, Any]]:
        """What a caller may call, under the names that clients see. An instance that fails is
        left out."""
        every = await self.instances.all()
        wanted = [each for each in every.values() if each.enabled and asker.may_see(each.slug)]
        found = await asyncio.gather(*(self.tools_of(each) for each in wanted))
        return [
            {**tool, "name": f"{each.slug}{SEPARATOR}{name}"}
            for each, tools in zip(wanted, found, strict=True)
            for name, tool in tools[0].items()
            if asker.may_call(each.slug, name)
        ]

    async def tools_of(self, instance: Instance) -> tuple[Mapping[str, dict[str, Any]], str | None]:
        """An instance's tools by their own names, or none and why."""
        try:
            link = await self.links.link(instance)
            return await link.tools(), None
        except GatewayError as error:
            log.warning("MCP instance %s gives no tools: %s", instance.slug, error.message)
            return {}, error.message

    async def call(
        self, asker: Asker, name: str, arguments: Mapping[str, Any], request_id: str
    ) -> dict[str, Any]:
        """A tool's result. Raises UnknownTool, ServerFailed, ToolRefused, Unavailable."""
        instance, tool = await self._find(asker, name)
        record = RequestRecord(request_id, ENDPOINT, FORMAT, self.core.clock())
        record.model, record.upstream_format, record.attempts = name, FORMAT, 1
        record.target, record.usage = Target(PROVIDER, Model(name)), Usage()
        if asker.key is not None:
            record.note(f"mcp key: {asker.key.name}")
        try:
            link = await self.links.link(instance)
            if tool not in await link.tools():
                raise UnknownTool(f"Unknown tool: {name}")
            result = await link.call(tool, arguments)
            if result.get("isError"):
                record.note("mcp: the tool reports an error")
        except UnknownTool:
            record.is_recorded = True  # Nothing was called.
            raise
        except GatewayError as error:
            record.failed(error, secrets=instance.secrets)
            raise
        except asyncio.CancelledError:
            record.status, record.http_status = "client_gone", 499
            raise
        finally:
            record.over = monotonic()
            self.core.ledger.record(record)
        return result

    async def _find(self, asker: Asker, name: str) -> tuple[Instance, str]:
        """The instance and its own name of a tool. Raises UnknownTool, the same for what is not
        there and for what the caller may not know of."""
        slug, _, tool = name.partition(SEPARATOR)
        if tool and asker.may_call(slug, tool):
            instance = (await self.instances.all()).get(slug)
            if instance is not None and instance.enabled:
                return instance, tool
        raise UnknownTool(f"Unknown tool: {name[:200]}")
