"""Registers the admin API's routes and its background tasks."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import hookimpl
from gateway_core.http.operations import Deferred, Guarded
from gateway_core.pipeline.plugin_host import Host

from .accounts.oauth import background as logins
from .log import console
from .models import first_answers
from .usage import retention_runs

GATEWAY_PROTOCOL = 1
BELOW = ("/api/", "/__web_login/")
MANIFEST = ("/v1/provider-plugin-manifest",)


@hookimpl
def register_routes(host: Host) -> list[Deferred]:
    def make() -> list[Guarded]:
        # 4 MiB and 50 ms of processor time, which a gateway that nobody manages does without.
        from .routes import routes_of

        return routes_of(host.core)

    def make_manifest() -> list[Guarded]:
        from .vendors import manifest

        return manifest.routes_of(host.core)

    return [Deferred(BELOW, make), Deferred(MANIFEST, make_manifest)]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        core = host.core
        async with (
            retention_runs.daily(core),
            console.capture_log(core),
            first_answers.awaited(core),
            logins.kept_alive(core),
        ):
            yield
            if (core.data_dir.path / "headroom").exists():
                from .system import compressor

                await compressor.leave(core)

    return running()
