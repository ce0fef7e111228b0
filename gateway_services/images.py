"""The pictures that a web chat has made, by their ids (4.4)."""

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import NotFound
from gateway_core.http.operations import Guarded, guarded
from gateway_core.http.requests import request_id_of
from gateway_core.http.responses import error_answer
from gateway_core.identity.access import Access
from gateway_providers.image_cache import IMAGES, LIFETIME

PATH = "/v1/chatweb/image/{id}"
KEPT = {
    "cache-control": f"private, max-age={LIFETIME:.0f}",
    "x-content-type-options": "nosniff",
}


def routes() -> list[Guarded]:
    return [
        guarded(PATH, show, Access.INFERENCE, "fetch the image", media="application/octet-stream")
    ]


async def show(request: Request) -> Response:
    """The bytes of a picture, for as long as it is kept."""
    image = await IMAGES.find_anywhere(request.path_params["id"])
    if image is None:
        return error_answer(NotFound("Image not found or expired"), request_id_of(request))
    return Response(image.content, headers=KEPT, media_type=image.media_type)
