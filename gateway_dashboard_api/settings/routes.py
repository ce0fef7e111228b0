"""The settings document (4.13)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.settings import check_changes, guarded, traits
from gateway_core.contracts.errors import Forbidden
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..destinations import permit, permit_proxy
from ..endpoint import endpoint
from ..login.oidc import check_change
from ..login.password_changes import change_with_current, read_choice, renew_session
from ..login.session_list import end_tunneled
from ..login.sign_in import report_failures
from ..requests import read_json
from .document import read_changes, render
from .schema import SettingsChange, SettingsDocument

PATH = "/api/settings"
_PROXY = "outboundProxyUrl"
_TUNNEL = ("tunnel_dashboard_access", "tunnel_enabled", "tailscale_enabled")
"""Settings that close the tunnel, or one of them, to the dashboard when they are switched off."""


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, show, "read the settings", answer=SettingsDocument),
        endpoint(
            admin,
            "PATCH",
            PATH,
            report_failures(patch),
            "update the settings",
            body=SettingsChange,
            answer=SettingsDocument,
            example={"comboStrategy": "round-robin"},
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    document = await admin.stores.settings.document()
    settings = await admin.stores.settings.read()
    operator = admin.caller(request).is_operator
    return json_answer(
        render(document, settings, admin.core.environment.variables, operator=operator)
    )


async def patch(admin: AdminContext, request: Request) -> Response:
    body: dict[str, Any] = await read_json(request, dict[str, Any])
    changes, choice = read_changes(body), read_choice(body)
    check_changes(changes)
    touched = (*guarded(changes), *(() if choice is None else ("the password",)))
    if touched and not admin.caller(request).is_operator:
        raise Forbidden(f"An API key may not change {touched[0]}")
    await check_change(admin, request, changes)
    if changes.get(_PROXY):
        await permit_proxy(admin.core.network, changes[_PROXY])
    for name, url in changes.items():
        if url and name in traits() and traits()[name].is_called:
            await permit(admin.core.network, url)
    if choice is not None:
        await change_with_current(admin, request, choice, changes)
        return await renew_session(admin, request, await show(admin, request))
    before = admin.snapshot.settings
    async with admin.writing():
        document = await admin.stores.settings.document()
        await admin.audit_change(request, "settings.change", None, document, changes)
        after = await admin.stores.settings.patch(changes)
        if any(getattr(before, name) and not getattr(after, name) for name in _TUNNEL):
            await end_tunneled(admin)
    return await show(admin, request)
