"""The settings document (4.13)."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.settings import check_changes, guarded
from gateway_core.contracts.errors import Forbidden
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..desk import Desk
from ..destinations import permit_proxy
from ..endpoint import endpoint
from ..login import counted
from ..password_changes import change_knowing, chosen, renewed
from ..requests import read
from ..settings_document import changes, shown
from ..settings_shapes import SettingsChange, SettingsDocument

PATH = "/api/settings"
_PROXY = "outboundProxyUrl"
_read_document = msgspec.json.Decoder(dict[str, Any])


def routes(desk: Desk) -> list[Guarded]:
    return [
        endpoint(desk, "GET", PATH, show, "read the settings", answer=SettingsDocument),
        endpoint(
            desk,
            "PATCH",
            PATH,
            counted(patch),
            "update the settings",
            body=SettingsChange,
            answer=SettingsDocument,
            example={"comboStrategy": "round-robin"},
        ),
    ]


async def show(desk: Desk, request: Request) -> Response:
    document = await desk.stores.settings.document()
    settings = await desk.stores.settings.read()
    operator = desk.caller(request).is_operator
    return json_answer(
        shown(document, settings, desk.core.environment.variables, operator=operator)
    )


async def patch(desk: Desk, request: Request) -> Response:
    body: dict[str, Any] = await read(request, _read_document)
    wanted, choice = changes(body), chosen(body)
    check_changes(wanted)
    touched = (*guarded(wanted), *(() if choice is None else ("the password",)))
    if touched and not desk.caller(request).is_operator:
        raise Forbidden(f"An API key may not change {touched[0]}")
    if wanted.get(_PROXY):
        await permit_proxy(desk.core.network, wanted[_PROXY])
    if choice is not None:
        await change_knowing(desk, request, choice, wanted)
        return renewed(desk, request, await show(desk, request))
    if touched:
        await desk.audit(request, "settings.change", None, {"keys": touched})
    async with desk.writing():
        await desk.stores.settings.patch(wanted)
    return await show(desk, request)
