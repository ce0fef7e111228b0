"""The head of an HTTP/2 request in the form of HTTP/1.1's, and its checks."""

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import ServerLimits

from ..connections import App, Message
from ..http1.request_head import Headers, RefusedRequest, check_head
from .stream import refusal_headers

ENTRY = 32
"""What is counted for each header besides its name and value: RFC 9113, section 6.5.2."""
_is_name = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+").fullmatch
_is_method = re.compile(rb"[A-Z][A-Z-]*").fullmatch
_has_control = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]").search


class RequestHead(Struct, frozen=True):
    """The head of a request, with what ``check_head`` asks a parser of HTTP/1.1."""

    method: bytes
    target: bytes
    headers: Headers
    """Without pseudo-headers; ``host`` is the authority."""
    has_body: bool
    is_socket: bool = False
    """It asks for a WebSocket: RFC 8441, section 4. Its method is that of HTTP/1.1's handshake."""

    def get_method(self) -> bytes:
        return self.method

    def get_http_version(self) -> str:
        # The form of the head is checked, which is that of HTTP/1.1.
        return "1.1"


def to_http1_head(pairs: Headers, *, has_body: bool) -> RequestHead:
    """A head as HTTP/1.1 would have it; h2 has checked that it has a method."""
    values = dict(pairs)
    host = values.get(b":authority", values.get(b"host", b""))
    rest = [(n, v) for n, v in pairs if n[:1] != b":" and n not in (b"host", b"cookie")]
    if b"cookie" in values:  # RFC 9113, section 8.2.3: they may come in pieces.
        rest.append((b"cookie", b"; ".join(value for name, value in pairs if name == b"cookie")))
    is_socket = values.get(b":protocol") == b"websocket" and values[b":method"] == b"CONNECT"
    method = b"GET" if is_socket else values[b":method"]
    target, headers = values.get(b":path", b""), [(b"host", host), *rest]
    return RequestHead(method, target, headers, has_body, is_socket)


def check(head: RequestHead, limits: ServerLimits) -> None:
    """Refuse what the parser of HTTP/1.1 refuses, and h2 does not. Raises RefusedRequest."""
    # RFC 9113, section 8.2.1. An intermediary must not pass such heads on to HTTP/1.1.
    sound = all(_is_name(name) and not _has_control(value) for name, value in head.headers)
    lengths = [value for name, value in head.headers if name == b"content-length"]
    sound &= len(lengths) < 2 and all(map(bytes.isdigit, lengths))
    sound &= not (head.is_socket and lengths)
    sound &= head.has_body or not any(map(int, lengths if sound else ()))
    if not (sound and _is_method(head.method)):
        raise RefusedRequest(400, "The request is malformed")
    check_head(head, head.target, head.headers, math.inf, limits)


def refusing(refused: RefusedRequest) -> App:
    """The application that responds to a request which is not served."""
    body = msgspec.json.encode({"error": refused.message})

    async def refuse(scope: Message, receive: object, send: Callable[..., Any]) -> None:
        headers = [*refusal_headers(body), *refused.headers]
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return refuse


def max_list_size(limits: ServerLimits) -> int:
    """How large the headers of a request may be, as HTTP/2 counts."""
    return limits.head + limits.request_line + ENTRY * limits.headers
