"""One MCP endpoint for the tools of many MCP servers.

See ``docs/mcp.md``. Nothing but this page's names is imported until the first request.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import Guarded, Host, hookimpl
from gateway_core.http.operations import Deferred

from .settings import Settings

GATEWAY_PROTOCOL = 1
PATH = "/api/mcp-gateway"
CONFORMANCE = {
    "trusted": True,
    "public": [PATH, f"{PATH}/sse", f"{PATH}/message"],
    "settings": {"enabled": True},
}


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_routes(host: Host, settings: Settings) -> list[Deferred]:
    if not settings.enabled:
        return []

    def make() -> list[Guarded]:
        from .routes import routes
        from .running import tools_of

        return routes(tools_of(host))

    return [Deferred((PATH,), make)]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        try:
            yield
        finally:
            from .running import close

            await close(host)

    return running()
