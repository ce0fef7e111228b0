"""Reading what a management route was asked: a JSON body of one shape, and numbers in the query."""

from typing import TypeVar

import msgspec
from starlette.requests import Request

from gateway_core.contracts.errors import BadRequest, UnsupportedMedia
from gateway_core.inference.bodies import read_body
from gateway_core.inference.client import headers_of

LIMIT = 1024 * 1024
"""The largest body, bytes."""
JSON = "application/json"

T = TypeVar("T")


async def read(request: Request, decoder: msgspec.json.Decoder[T], limit: int = LIMIT) -> T:
    """The body, of at most so many bytes.

    Raises UnsupportedMedia, BodyTooLarge, BadRequest, ClientGone.
    """
    headers = headers_of(request.scope)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMedia("Content-Type must be application/json")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMedia("The body must not be compressed")
    body = await read_body(request.receive, headers, limit)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("The request body is not valid JSON") from None


def number(request: Request, name: str, default: int, *, least: int, most: int) -> int:
    """A whole number of the query. Raises BadRequest for anything else, or one out of range."""
    text = request.query_params.get(name)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise BadRequest(f"Invalid {name}")
    value = int(text)
    if not least <= value <= most:
        raise BadRequest(f"Invalid {name}: {least} to {most} is possible")
    return value


def required(request: Request, name: str) -> str:
    """A parameter of the query. Raises BadRequest when it is missing."""
    value = request.query_params.get(name, "").strip()
    if not value:
        raise BadRequest(f"Missing query parameter: {name}")
    return value


Q = TypeVar("Q", bound=msgspec.Struct)


def query(request: Request, kind: type[Q]) -> Q:
    """The whole query as a struct of text, numbers, booleans and choices.

    An empty parameter counts as one that is not there. Raises BadRequest with
    the name of what cannot be read.
    """
    given = {name: value for name, value in request.query_params.items() if value}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        _, _, place = str(error).partition("`$.")
        raise BadRequest(f"Invalid {place.rstrip('`') or 'query'}") from None
