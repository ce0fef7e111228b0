"""Puts the filters that plugins brought on the path of answers, and what answers for vendors."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import hookimpl
from gateway_core.pipeline.interceptors import MOST_FAILURES
from gateway_core.pipeline.plugin_host import Host

from .filters import Filters
from .guarded import says_idle
from .plugin_gateway import connect_plugins

GATEWAY_PROTOCOL = 1


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return _filtering(host)


@asynccontextmanager
async def _filtering(host: Host) -> AsyncIterator[None]:
    core, installed = host.core, host.core.interceptors.active
    sources, shelves = connect_plugins(core)
    filters = Filters(core, sources) if core.snapshot.registry.answer_filters or sources else None
    before = core.plugin_settings.on_change

    def settle() -> None:
        """Take those off the path that have nothing to do, until the settings change again."""
        before()
        core.interceptors.active = tuple(
            each
            for each in installed
            if not says_idle(each.interceptor)
            and (each.interceptor.required or each.failures < MOST_FAILURES)
        )
        # Answers that are under way keep the filters that they began with.
        core.state.filtering = None if filters is None or filters.is_idle else filters

    settle()
    core.plugin_settings.on_change = settle
    # It stays to the end: answers that are still under way are filtered too.
    try:
        yield
    finally:
        await shelves.aclose()
