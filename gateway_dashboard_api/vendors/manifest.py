"""The provider manifest over HTTP (2.7), which anybody on any origin may read."""

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.plugins.manifest import document
from gateway_core.http.operations import JSON, Guarded, guarded
from gateway_core.identity.access import Access
from gateway_core.pipeline.context import Collaborators
from gateway_core.plugins.registry import RUNTIME

PATH = "/v1/provider-plugin-manifest"
HEADERS = {
    "cache-control": "public, max-age=60",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
}


def routes_of(core: Collaborators) -> list[Guarded]:
    @cache
    def text() -> bytes:
        """Of what plugins brought; the operator's own nodes are nobody else's matter."""
        registry = core.snapshot.registry
        owners = registry.provider_plugins
        return document(each for each in registry.providers.values() if owners[each.id] != RUNTIME)

    async def show(request: Request) -> Response:
        return Response(text(), headers=HEADERS, media_type=JSON)

    purpose, methods = "show the provider manifest", ("GET", "HEAD")
    return [guarded(PATH, show, Access.PUBLIC, purpose, methods, answer=dict[str, Any])]
