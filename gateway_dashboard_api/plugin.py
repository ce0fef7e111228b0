"""Registers the admin API's routes and its background tasks."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.plugin_host import Host

from .accounts import groups as account_groups
from .accounts import routes as accounts
from .accounts import testing as account_tests
from .accounts.web_login import routes as web_login
from .admin_context import AdminContext
from .combos import presets as combo_presets
from .combos import routes as combos
from .database import routes as database
from .keys import groups as key_groups
from .keys import routes as keys
from .login import mfa, oidc, session_list
from .login import routes as login
from .models import availability, first_answers, prices, visibility
from .models import custom as custom_models
from .models import media as media_routes
from .models import routes as models
from .models import sync as model_sync
from .models import testing as model_tests
from .nodes import routes as nodes
from .plugins import routes as plugins
from .plugins import settings as plugin_settings
from .proxies import routes as proxies
from .settings import firecrawl, local_servers
from .settings import routes as settings
from .system import audit, health
from .system import routes as system
from .translator import console
from .translator import logs as translator_logs
from .translator import routes as translator
from .usage import details, export, quota, retention, retention_runs, series
from .usage import me as key_owner
from .usage import routes as usage

GATEWAY_PROTOCOL = 1
_ROUTES = (
    *(web_login.routes, account_tests.routes, accounts.routes, account_groups.routes),
    *(nodes.routes, combo_presets.routes, combos.routes),  # Presets before combos by their id.
    *(models.routes, availability.routes, custom_models.routes, visibility.routes),
    *(model_tests.routes, media_routes.routes, model_sync.routes, prices.routes),
    *(login.routes, mfa.routes, oidc.routes, session_list.routes),
    *(settings.routes, database.routes, local_servers.routes, firecrawl.routes),
    *(
        proxies.routes,
        plugins.routes,
        plugin_settings.routes,
        system.routes,
        audit.routes,
        health.routes,
    ),
    *(translator.routes, translator_logs.routes, keys.routes, key_groups.routes),
    *(
        key_owner.routes,
        usage.routes,
        series.routes,
        details.routes,
        export.routes,
        retention.routes,
    ),
    quota.routes,  # Last, because its path matches any word after /api/usage.
)


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return routes_of(host.core)


def routes_of(core: Collaborators) -> list[Guarded]:
    """Every route of the admin API. Building them reads nothing from ``core``."""
    admin = AdminContext(core)
    return [route for routes in _ROUTES for route in routes(admin)]


@hookimpl
def lifespan(host: Host) -> AbstractAsyncContextManager[None]:
    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        core = host.core
        async with (
            retention_runs.daily(core),
            console.capture_log(core),
            first_answers.awaited(core),
        ):
            yield

    return running()
