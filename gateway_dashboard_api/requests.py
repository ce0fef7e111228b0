"""Reading requests to the admin API: JSON bodies and query parameters."""

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
"""Characters of a member's name that an error message repeats."""
_ALWAYS = frozenset({"_", "t", "key"})
T = TypeVar("T")
_members = msgspec.json.Decoder(dict[str, Raw])


async def read_json(
    request: Request,
    kind: type[T],
    limit: int = LIMIT,
    *,
    ignored: Collection[str] = (),
) -> T:
    """Read a JSON body of at most ``limit`` bytes as a value of this type.

    ``ignored`` are members that the row has and no body sets, such as its id, so that a row
    may be sent back as it was read.
    Raises UnsupportedMedia, BodyTooLarge, BadRequest, ClientGone.
    """
    headers = headers_of(request.scope)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMedia("Content-Type must be application/json")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMedia("The body must not be compressed")
    body = await read_body(request.receive, headers, limit)
    try:
        value = msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"Invalid request body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadRequest("The request body is not valid JSON") from None
    if isinstance(value, Struct) and value.__struct_defaults__:
        known = value.__struct_encode_fields__
        check_members(_members.decode(body), known, ignored)
    return value


def check_members(
    members: Collection[str], known: Collection[str], ignored: Collection[str] = ()
) -> None:
    """Refuse unknown members: a mistyped limit would otherwise be no limit.

    Raises BadRequest. Bodies whose members are all required need no check.
    """
    unknown = next((name for name in members if name not in known and name not in ignored), None)
    if unknown is not None:
        name, names = unknown[:LONGEST_SHOWN], ", ".join(known)
        raise BadRequest(f'Unknown member "{name}": possible are {names}')


def check_parameters(request: Request, kind: type[Struct] | None) -> None:
    """Refuse query parameters that a route does not have: a filter that is passed over would give
    an answer to another question.

    Parameters that only keep caches away, and the gateway key, stand beside any query. Raises
    BadRequest.
    """
    known = () if kind is None else kind.__struct_encode_fields__
    for name in request.query_params:
        if name not in known and name not in _ALWAYS:
            names = f"possible are {', '.join(known)}" if known else "this route has none"
            raise BadRequest(f'Unknown query parameter "{name[:LONGEST_SHOWN]}": {names}')


def require_parameter(request: Request, name: str) -> str:
    """Return a query parameter. Raises BadRequest when it is missing."""
    value = request.query_params.get(name, "").strip()
    if not value:
        raise BadRequest(f"Missing query parameter: {name}")
    return value


Q = TypeVar("Q", bound=msgspec.Struct)


def read_query(request: Request, kind: type[Q]) -> Q:
    """Read the query as a struct of text, numbers, booleans and choices.

    An empty parameter counts as one that is not there. Raises BadRequest with
    the name of what cannot be read.
    """
    parameters = {name: value for name, value in request.query_params.items() if value}
    try:
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        _, _, path = str(error).partition("`$.")
        raise BadRequest(f"Invalid {path.rstrip('`') or 'query'}") from None


Text = str | UnsetType | None


def strip(text: Text) -> str:
    """Remove the space around a text; empty when there is no text."""
    return text.strip() if isinstance(text, str) else ""
