"""Reads the body of a request within its limit, and decodes it (RFC 9110, section 8.4)."""

from collections.abc import Callable, Mapping

from ..contracts.asgi import Message, Receive
from ..contracts.errors import BadRequest, BodyTooLarge, UnsupportedMedia
from ..upstream.body_buffer import BodyBuffer
from ..upstream.content_codings import INFLATERS, BodyDecoder, MalformedCoding
from .client_response import ClientGone

INFLATION = 100
"""How many times its size a compressed body may grow."""


INFLATED_AT_ONCE = 1024 * 1024
"""Bytes that a compressed body may have without a reservation, and the step in which it grows."""
Reserve = Callable[[int], None]
"""Is called with the size that a body is about to have, and may raise."""


def unlimited(size: int) -> None:
    """Let in a body whose limit is small enough."""


async def read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """The whole body, decoded. Raises as its parts do."""
    return decode(await whole_body(receive, headers, limit), headers, limit)


async def whole_body(
    receive: Receive,
    headers: Mapping[str, str],
    limit: int,
    reserve: Reserve = unlimited,
) -> bytes:
    """The whole body as it came. Raises ClientGone, and BodyTooLarge while there is more of it.

    A body of several pieces is reserved as long as announced, as far as that can be believed.
    """
    announced = headers.get("content-length", "")
    length = int(announced) if announced.isdecimal() else 0
    if length > limit:
        raise BodyTooLarge(f"The request body is larger than {limit} bytes")
    message = await receive()
    piece = _piece(message)
    if not message.get("more_body"):
        return piece
    gathered, is_more = BodyBuffer(length), True
    gathered.add(piece)
    while is_more:
        if gathered.size > limit:
            raise BodyTooLarge(f"The request body is larger than {limit} bytes")
        reserve(gathered.expected)
        message = await receive()
        gathered.add(_piece(message))
        is_more = message.get("more_body", False)
    return gathered.whole()


def decode(
    body: bytes, headers: Mapping[str, str], limit: int, reserve: Reserve = unlimited
) -> bytes:
    """A body without its content coding. Raises BodyTooLarge, BadRequest, UnsupportedMedia."""
    if len(body) > limit:
        raise BodyTooLarge(f"The request body is larger than {limit} bytes")
    coding = headers.get("content-encoding")
    return body if not coding or coding == "identity" else inflate(body, coding, limit, reserve)


def _piece(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientGone
    piece: bytes = message.get("body", b"")
    return piece


def inflate(body: bytes, coding: str, limit: int, reserve: Reserve = unlimited) -> bytes:
    """A decompressed body, which may be at most a hundred times as long as it arrived."""
    name = coding.strip().lower()
    if name not in INFLATERS:
        raise UnsupportedMedia(f"Content-Encoding {coding} is not supported; use gzip or none")
    most = min(limit, len(body) * INFLATION)
    decoder, pieces, size = BodyDecoder(name), list[bytes](), 0
    decoder.feed(body)
    try:
        while size <= most and (piece := decoder.take(min(INFLATED_AT_ONCE, most + 1 - size))):
            pieces.append(piece)
            size += len(piece)
            if size >= INFLATED_AT_ONCE:
                reserve(size)
    except MalformedCoding:
        raise BadRequest(f"The request body is not valid {coding}") from None
    if size > most:
        raise BodyTooLarge(f"The request body is larger than {most} bytes when decoded")
    if not decoder.is_whole:
        raise BadRequest(f"The request body is not one whole {coding} stream")
    return b"".join(pieces)
