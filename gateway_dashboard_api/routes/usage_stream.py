"""Usage as it happens (A.7)."""

from typing import Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import STREAM, Guarded

from ..desk import AdminContext
from ..endpoint import endpoint
from ..requests import query
from ..usage_feeds import Feeds
from ..usage_picture import Picture
from .model_tests import Frames

PATH = "/api/usage/stream"


class StreamQuery(Struct, frozen=True, kw_only=True):
    period: Literal["today", "24h", "7d", "30d", "60d", "all"] = "7d"


def routes(admin: AdminContext) -> list[Guarded]:
    feeds = Feeds(admin)

    async def stream(admin: AdminContext, request: Request) -> Response:
        return Frames(feeds.watch(query(request, StreamQuery).period))

    return [
        endpoint(
            admin,
            "GET",
            PATH,
            stream,
            "stream the usage",
            query=StreamQuery,
            answer=Picture,
            media=STREAM,
        )
    ]
