"""The OpenAPI document of everything that this gateway serves."""

from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import JSON, Guarded
from gateway_core.http.responses import NO_STORE

from ..desk import AdminContext
from ..endpoint import endpoint
from .process import current_version

PATH = "/api/openapi.json"


def routes(admin: AdminContext) -> list[Guarded]:
    shown = Shown().show
    return [endpoint(admin, "GET", PATH, shown, "describe the API", answer=dict[str, Any])]


class Shown:
    """The document, made when it is first asked for: routes stay what they are."""

    def __init__(self) -> None:
        self._text: bytes | None = None

    async def show(self, admin: AdminContext, request: Request) -> Response:
        if self._text is None:
            self._text = _written(admin, request.app.routes)
        return Response(self._text, headers=dict(NO_STORE), media_type=JSON)


def _written(admin: AdminContext, table: Iterable[Guarded]) -> bytes:
    # Few ask for the document, so nobody waits for its making to be loaded.
    from gateway_core.http.openapi import document

    operations = [operation for each in table for operation in each.operations]
    formats = admin.tables.registry.formats.values()
    return msgspec.json.encode(document(operations, formats, current_version()))
