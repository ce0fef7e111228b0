"""Reading what a management route was asked: a JSON body of one shape, and numbers in the query."""

from collections.abc import Collection
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct, UnsetType
from starlette.requests import Request

from gateway_core.contracts.errors import BadRequest, UnsupportedMedia
from gateway_core.pipeline.client_response import headers_of
from gateway_core.pipeline.request_body import read_body

LIMIT = 1024 * 1024
"""The largest body, bytes."""

JSON = "application/json"

LONGEST_SHOWN = 128
"""Characters of a member's name that a refusal repeats."""

T = TypeVar("T")

_members = msgspec.json.Decoder(dict[str, Raw])


async def read(
    request: Request,
    kind: type[T],
    limit: int = LIMIT,
    *,
    shown: Collection[str] = (),
) -> T:
    """The body as a value of this type, of at most so many bytes.

    ``shown`` are members that the row's answer has and no body sets, such as its id: they
    are left out, so that a row may be sent back as it was read.
    Raises UnsupportedMedia, BodyTooLarge, BadRequest, ClientGone.
    """
    headers = headers_of(request.scope)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMedia("Content-Type must be application/json")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMedia("The body must not be compressed")
    body = await read_body(request.receive, headers, limit)
    try:
        found = msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("The request body is not valid JSON") from None
    if isinstance(found, Struct) and found.__struct_defaults__:
        known = found.__struct_encode_fields__
        check_members(_members.decode(body), known, shown)
    return found


def check_members(
    given: Collection[str], known: Collection[str], shown: Collection[str] = ()
) -> None:
    """Refuse what nobody knows: a mistyped limit would be no limit.

    Where every member is needed, a mistyped one is missed by itself. Raises BadRequest.
    """
    strange = next((name for name in given if name not in known and name not in shown), None)
    if strange is not None:
        name, names = strange[:LONGEST_SHOWN], ", ".join(known)
        raise BadRequest(f'Unknown member "{name}": possible are {names}')


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


Text = str | UnsetType | None


def said(text: Text) -> str:
    """A text without the space around it; empty when there is none."""
    return text.strip() if isinstance(text, str) else ""
