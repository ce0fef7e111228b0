"""The head of an HTTP/2 or HTTP/3 request in the shape of HTTP/1.1's, and its checks."""

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from .door import App, Message
from .heads import Headers, Refused, check_head
from .limits import Limits
from .stream import refusal_headers

ENTRY = 32
"""What HTTP/2 and HTTP/3 count for each header besides its name and value."""
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


def head_of(pairs: Headers, *, has_body: bool) -> Head:
    """A head as HTTP/1.1 would have it; the protocol has seen that it has a method."""
    said = dict(pairs)
    host = said.get(b":authority", said.get(b"host", b""))
    rest = [(n, v) for n, v in pairs if n[:1] != b":" and n not in (b"host", b"cookie")]
    if b"cookie" in said:  # They may come in pieces, and are one line for everybody else.
        rest.append((b"cookie", b"; ".join(value for name, value in pairs if name == b"cookie")))
    return Head(said[b":method"], said.get(b":path", b""), [(b"host", host), *rest], has_body)


def check(head: Head, limits: Limits) -> None:
    """What HTTP/1.1's parser and checks refuse, and the protocol here does not. Raises Refused."""
    sound = all(_is_name(name) and not _unspeakable(value) for name, value in head.headers)
    lengths = [value for name, value in head.headers if name == b"content-length"]
    sound &= len(lengths) < 2 and all(map(bytes.isdigit, lengths))
    sound &= head.has_body or not any(map(int, lengths if sound else ()))
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


def list_size(limits: Limits) -> int:
    """How large the headers of a request may be, as HTTP/2 and HTTP/3 count."""
    return limits.head + limits.request_line + ENTRY * limits.headers
