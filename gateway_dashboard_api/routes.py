"""Every route of the admin API: importing this module imports the whole of it."""

from gateway_core.http.operations import Guarded
from gateway_core.pipeline.context import Collaborators

from .accounts import groups as account_groups
from .accounts import routes as accounts
from .accounts import testing as account_tests
from .accounts.oauth import routes as oauth
from .accounts.web_login import routes as web_login
from .admin_context import AdminContext
from .combos import presets as combo_presets
from .combos import routes as combos
from .database import routes as database
from .keys import dry_run as key_checks
from .keys import groups as key_groups
from .keys import routes as keys
from .log import routes as log
from .login import mfa, oidc, session_list
from .login import routes as login
from .mcp_control import routes as mcp_control
from .models import availability, prices, visibility
from .models import custom as custom_models
from .models import media as media_routes
from .models import routes as models
from .models import sync as model_sync
from .models import testing as model_tests
from .nodes import routes as nodes
from .playground import routes as playground
from .plugins import pages as plugin_pages
from .plugins import routes as plugins
from .plugins import settings as plugin_settings
from .proxies import routes as proxies
from .settings import firecrawl, local_servers
from .settings import routes as settings
from .system import audit, headroom, health, status
from .system import routes as system
from .translator import logs as translator_logs
from .translator import routes as translator
from .usage import details, export, live, quota, retention, series
from .usage import me as key_owner
from .usage import routes as usage
from .vendors import routes as vendors

_ROUTES = (
    *(web_login.routes, account_tests.routes, accounts.routes, account_groups.routes),
    oauth.routes,
    vendors.routes,
    *(nodes.routes, combo_presets.routes, combos.routes),  # Presets before combos by their id.
    *(models.routes, availability.routes, custom_models.routes, visibility.routes),
    *(model_tests.routes, media_routes.routes, model_sync.routes, prices.routes),
    *(login.routes, mfa.routes, oidc.routes, session_list.routes),
    *(settings.routes, database.routes, local_servers.routes, firecrawl.routes),
    *(
        proxies.routes,
        plugins.routes,
        plugin_pages.routes,
        plugin_settings.routes,
        system.routes,
        audit.routes,
        health.routes,
        status.routes,
        headroom.routes,
        log.routes,
    ),
    *(translator.routes, translator_logs.routes, keys.routes, key_groups.routes),
    key_checks.routes,
    playground.routes,
    *(
        key_owner.routes,
        usage.routes,
        live.routes,
        series.routes,
        details.routes,
        export.routes,
        retention.routes,
    ),
    quota.routes,  # Last, because its path matches any word after /api/usage.
)


def routes_of(core: Collaborators) -> list[Guarded]:
    """Every route of the admin API. Building them reads nothing from ``core``."""
    admin = AdminContext(core)
    routes = [route for each in _ROUTES for route in each(admin)]
    return [*mcp_control.routes(admin, routes), *routes]
