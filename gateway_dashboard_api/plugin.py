"""Puts the management routes beside the gateway's own."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.context import Core
from gateway_core.pipeline.plugin_host import Host

from . import console, retention_runs
from .desk import AdminContext
from .routes import (
    audit,
    auth,
    auto_configure,
    auto_sync,
    availability,
    combo_presets,
    combos,
    connection_groups,
    connection_tests,
    connections,
    custom_models,
    firecrawl,
    key_groups,
    key_usage,
    keys,
    logs_export,
    media_routes,
    mfa,
    model_tests,
    models,
    node_tests,
    nodes,
    oidc,
    openapi,
    passwords,
    plugin_settings,
    plugins,
    pricing,
    process,
    provider_extras,
    provider_health,
    proxy_pools,
    proxy_test,
    quota,
    request_details,
    require_login,
    retention,
    settings,
    translator,
    translator_console,
    upstream_models,
    usage,
    usage_history,
    usage_me,
    usage_stream,
    visibility,
    web_login,
)

GATEWAY_PROTOCOL = 1

_MODULES = (
    *(combo_presets, provider_extras, web_login),  # Their paths come before those with an id.
    *(connection_tests, upstream_models, connections, node_tests, nodes, combos),
    *(models, availability, custom_models, visibility, model_tests, settings),
    *(proxy_pools, connection_groups, media_routes, auto_sync, provider_health, audit),
    *(proxy_test, require_login, auto_configure, firecrawl, process, openapi, plugins),
    *(translator, translator_console),
    *(auth, passwords, mfa, oidc),
    *(key_usage, keys, key_groups, usage_me),
    *(usage, usage_history, usage_stream, request_details, logs_export, pricing, retention),
    plugin_settings,
    quota,  # The last of them: its path has room for any word after /api/usage.
)


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return routes_of(host.core)


def routes_of(core: Core) -> list[Guarded]:
    """Every management route. Making them asks nothing of the gateway."""
    admin = AdminContext(core)
    return [route for module in _MODULES for route in module.routes(admin)]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    return _running(host.core)


@asynccontextmanager
async def _running(core: Core) -> AsyncIterator[None]:
    async with retention_runs.daily(core), console.listening(core):
        yield
