"""The body of a request, read under its limit."""

import zlib
from collections.abc import Mapping

from ..contracts.asgi import Message, Receive
from ..contracts.errors import BadRequest, BodyTooLarge, UnsupportedMedia
from ..upstream.body_buffer import BodyBuffer
from .client_response import ClientGone

INFLATION = 100
"""How many times its size a compressed body may grow."""


async def read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """The whole body, decoded. Raises as its parts do."""
    return decoded(await whole_body(receive, headers, limit), headers, limit)


async def whole_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """The whole body as it came. Raises ClientGone, and BodyTooLarge while there is more of it."""
    announced = headers.get("content-length", "")
    length = int(announced) if announced.isdecimal() else 0
    if length > limit:
        raise BodyTooLarge(f"The request body is larger than {limit} bytes")
    message = await receive()
    if not message.get("more_body"):
        return _piece(message)
    return await _long_body(receive, _piece(message), limit, length)


async def _long_body(receive: Receive, first: bytes, limit: int, announced: int) -> bytes:
    """A body that comes in several pieces."""
    gathering, is_more = BodyBuffer(announced), True
    gathering.add(first)
    while is_more:
        if gathering.size > limit:
            raise BodyTooLarge(f"The request body is larger than {limit} bytes")
        message = await receive()
        gathering.add(_piece(message))
        is_more = message.get("more_body", False)
    return gathering.whole()


def decoded(body: bytes, headers: Mapping[str, str], limit: int) -> bytes:
    """A whole body in the clear. Raises BodyTooLarge, BadRequest, UnsupportedMedia."""
    if len(body) > limit:
        raise BodyTooLarge(f"The request body is larger than {limit} bytes")
    coding = headers.get("content-encoding")
    return body if not coding or coding == "identity" else inflated(body, coding, limit)


def _piece(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientGone
    piece: bytes = message.get("body", b"")
    return piece


def inflated(body: bytes, coding: str, limit: int) -> bytes:
    """A compressed body in the clear, which may be at most a hundred times its size."""
    bits = {"gzip": 31, "x-gzip": 31, "deflate": 15}.get(coding.strip().lower())
    if bits is None:
        raise UnsupportedMedia(f"Content-Encoding {coding} is not supported; use gzip or none")
    most = min(limit, len(body) * INFLATION)
    inflater = zlib.decompressobj(bits)
    try:
        plain = inflater.decompress(body, most + 1)
    except zlib.error:
        raise BadRequest(f"The request body is not valid {coding}") from None
    if len(plain) > most:
        raise BodyTooLarge(f"The request body is larger than {most} bytes when decoded")
    if not inflater.eof or inflater.unused_data:
        raise BadRequest(f"The request body is not one whole {coding} stream")
    return plain
