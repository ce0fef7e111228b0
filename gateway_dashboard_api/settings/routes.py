"""The settings document (4.13)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.settings import check_changes, guarded
from gateway_core.contracts.errors import Forbidden
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..destinations import permit_proxy
from ..endpoint import endpoint
from ..login.password_changes import change_knowing, chosen, renewed
from ..login.sign_in import counted
from ..requests import read
from .document import changes, shown
from .schema import SettingsChange, SettingsDocument

PATH = "/api/settings"

_PROXY = "outboundProxyUrl"


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, show, "read the settings", answer=SettingsDocument),
        endpoint(
            admin,
            "PATCH",
            PATH,
            counted(patch),
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
        shown(document, settings, admin.core.environment.variables, operator=operator)
    )


async def patch(admin: AdminContext, request: Request) -> Response:
    body: dict[str, Any] = await read(request, dict[str, Any])
    wanted, choice = changes(body), chosen(body)
    check_changes(wanted)
    touched = (*guarded(wanted), *(() if choice is None else ("the password",)))
    if touched and not admin.caller(request).is_operator:
        raise Forbidden(f"An API key may not change {touched[0]}")
    if wanted.get(_PROXY):
        await permit_proxy(admin.core.network, wanted[_PROXY])
    if choice is not None:
        await change_knowing(admin, request, choice, wanted)
        return renewed(admin, request, await show(admin, request))
    if touched:
        await admin.audit(request, "settings.change", None, {"keys": touched})
    async with admin.writing():
        await admin.stores.settings.patch(wanted)
    return await show(admin, request)
