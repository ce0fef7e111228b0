"""Alerts: limits, jumps of spend, errors and resting accounts, sent to where people see them.

See ``docs/alerts.md``.
"""

from contextlib import AbstractAsyncContextManager, nullcontext

from gateway_core import Guarded, Host, hookimpl

from .settings import Settings

GATEWAY_PROTOCOL = 1
CONFORMANCE = {"trusted": True, "settings": {"webhookUrl": "http://127.0.0.1:9/alerts"}}


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def lifespan(host: Host, settings: Settings) -> AbstractAsyncContextManager[None]:
    if not settings.has_destination:
        return nullcontext()
    # Imported only here: a gateway that tells nobody needs nothing of it.
    from .watcher import Watcher

    return Watcher(host).running()


@hookimpl
def register_routes(host: Host, settings: Settings) -> list[Guarded]:
    if not settings.has_destination:
        return []
    from .routes import routes
    from .watcher import Watcher

    return routes(Watcher(host))
