"""The head of an HTTP/2 request in the shape of HTTP/1.1's, and what it must look like."""

import math
import re
from collections.abc import Callable
from typing import Any, cast

import msgspec
from h2.events import RequestReceived
from msgspec import Struct

from .door import App, Message
from .heads import Headers, Refused, check_head
from .limits import Limits
from .stream import refusal_headers

_is_name = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+").fullmatch
_is_method = re.compile(rb"[A-Z][A-Z-]*").fullmatch
_unspeakable = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]").search


class Head(Struct, frozen=True):
    """The head of a request, with the two questions that the checks of a head have."""

    method: bytes
    target: bytes
    headers: Headers
    """Without pseudo-headers; ``host`` is the authority."""
    has_body: bool

    def get_method(self) -> bytes:
        return self.method

    def get_http_version(self) -> str:
        # What is asked for is the shape, which is that of HTTP/1.1.
        return "1.1"


def head_of(event: RequestReceived) -> Head:
    """A head as HTTP/1.1 would have it; the protocol has seen that it is complete."""
    pairs = cast(Headers, event.headers)
    said = dict(pairs)
    host = said.get(b":authority", said.get(b"host", b""))
    rest = [(name, value) for name, value in pairs if name[:1] != b":" and name != b"host"]
    target, has_body = said.get(b":path", b""), event.stream_ended is None
    return Head(said[b":method"], target, [(b"host", host), *rest], has_body)


def check(head: Head, limits: Limits) -> None:
    """What HTTP/1.1's parser and checks refuse, and the protocol here does not. Raises Refused."""
    sound = all(_is_name(name) and not _unspeakable(value) for name, value in head.headers)
    lengths = [value for name, value in head.headers if name == b"content-length"]
    sound &= len(lengths) < 2 and (head.has_body or not any(map(int, lengths)))
    if not (sound and _is_method(head.method)):
        raise Refused(400, "The request is malformed")
    check_head(head, head.target, head.headers, math.inf, limits)


def refusing(refused: Refused) -> App:
    """The application that answers a request which is not served."""
    body = msgspec.json.encode({"error": refused.message})

    async def refuse(scope: Message, receive: object, send: Callable[..., Any]) -> None:
        headers = refusal_headers(body)
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return refuse
