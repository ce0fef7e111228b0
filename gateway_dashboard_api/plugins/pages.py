"""The pages that plugins add to the web interface."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..endpoint import endpoint


class PageLink(Struct, frozen=True, kw_only=True):
    """A page in the menu."""

    title: str
    script: str
    """The path of the JavaScript module that shows it."""


class Pages(Struct, frozen=True):
    pages: tuple[PageLink, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    return [endpoint(admin, "GET", "/api/pages", show, "list pages of plugins", answer=Pages)]


async def show(admin: AdminContext, request: Request) -> Response:
    """The pages of plugins, in the order of their routes."""
    links = (
        PageLink(title=each.page, script=getattr(each.route, "path", ""))
        for each in request.app.routes
        if each.page
    )
    return json_answer(Pages(tuple(links)))
