"""Model servers on this machine, at the addresses that bundled providers declare."""

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from gateway_core.contracts.errors import UpstreamError
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.upstream.redaction import redact

from ..desk import AdminContext
from .discovery import discover
from .subjects import candidate

LIMIT = 2.0
"""Seconds for one server."""
HERE = ("localhost", "127.0.0.1", "::1")


class LocalServer(Struct, frozen=True, kw_only=True):
    """``models`` counts what a server lists; ``error`` says why there is no list."""

    provider: str
    url: str
    reachable: bool
    models: int = 0
    error: str | None = None


def local_specs(admin: AdminContext) -> Iterator[ProviderSpec]:
    """Providers that are usually on this machine and let everybody in."""
    for spec in admin.tables.registry.providers.values():
        is_here = urlsplit(spec.base_url or "").hostname in HERE
        if is_here and spec.auth.type in ("none", "optional"):
            yield spec


async def local_servers(admin: AdminContext) -> list[LocalServer]:
    """Ask all of them at once which models they have."""
    return list(await asyncio.gather(*(_look(admin, spec) for spec in local_specs(admin))))


async def _look(admin: AdminContext, spec: ProviderSpec) -> LocalServer:
    url = spec.base_url or ""
    account = candidate(admin, spec.id, None, {})
    try:
        async with asyncio.timeout(LIMIT):
            listed = await discover(admin.core, spec, admin.wire(spec), account)
    except TimeoutError:
        return LocalServer(provider=spec.id, url=url, reachable=False, error="No answer in time")
    except UpstreamError as error:
        return LocalServer(provider=spec.id, url=url, reachable=False, error=redact(error.message))
    if listed is None:
        return LocalServer(provider=spec.id, url=url, reachable=False, error="It has no list")
    return LocalServer(provider=spec.id, url=url, reachable=True, models=len(listed))
