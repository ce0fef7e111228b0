"""The settings document (4.13)."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from gateway_core.config.settings import check_changes
from gateway_core.surfaces.answers import json_answer

from ..desk import Desk
from ..destinations import permit_proxy
from ..endpoint import endpoint
from ..requests import read
from ..settings_document import changes, shown

PATH = "/api/settings"
_PROXY = "outboundProxyUrl"
_read_document = msgspec.json.Decoder(dict[str, Any])


def routes(desk: Desk) -> list[BaseRoute]:
    return [
        endpoint(desk, "GET", PATH, show, "read the settings"),
        endpoint(desk, "PATCH", PATH, patch, "update the settings"),
    ]


async def show(desk: Desk, request: Request) -> Response:
    document = await desk.stores.settings.document()
    settings = await desk.stores.settings.read()
    return json_answer(shown(document, settings, desk.core.environment.variables))


async def patch(desk: Desk, request: Request) -> Response:
    body: dict[str, Any] = await read(request, _read_document)
    wanted = changes(body)
    check_changes(wanted)
    if wanted.get(_PROXY):
        await permit_proxy(desk.core.network, wanted[_PROXY])
    async with desk.writing():
        await desk.stores.settings.patch(wanted)
    return await show(desk, request)
