"""What is checked in the head of a request beyond what the parser checks.

The parser refuses: repeated, non-decimal or empty Content-Length, the
same together with Transfer-Encoding, folded lines, bare CR or LF, NUL and
control characters in values, malformed names, unknown methods.
"""

import re
from collections.abc import Sequence
from typing import Any

from gateway_core import ServerLimits

Headers = Sequence[tuple[bytes, bytes]]

SMALL = 8 * 1024
"""A head of so few bytes is within every limit of size."""
# RFC 9110, sections 9.3.6 and 9.3.8: for proxies, and for debugging.
NOT_SERVED = frozenset({b"TRACE", b"CONNECT"})
VERSIONS = frozenset({"1.1", "1.0"})
_CHECKED = frozenset({b"host", b"transfer-encoding", b"upgrade"})
_is_host = re.compile(rb"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.%]+\])(?::[0-9]{1,5})?").fullmatch
_is_path = re.compile(rb'/(?!/)[!"$-\[\]-~]*').fullmatch
_absolute = re.compile(rb"[Hh][Tt][Tt][Pp][Ss]?://([^/?]*)(/.*)?").fullmatch


class RefusedRequest(Exception):
    """A request that is not served; ``status``, a sentence for the client, and headers."""

    def __init__(
        self, status: int, message: str, headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


class SocketRequested(Exception):
    """The head is sound, and asks for a WebSocket in the place of a response."""


def to_refusal(error: BaseException) -> RefusedRequest:
    """Why the parser gave up: a refusal of ours, or a malformed request."""
    reason = error.__context__
    return (
        reason
        if isinstance(reason, RefusedRequest)
        else RefusedRequest(400, "The request is malformed")
    )


def check_head(
    parser: Any, target: bytes, headers: Headers, size: float, limits: ServerLimits
) -> bool:
    """Check a head, and return whether the body is chunked. ``size`` is the head's, or more.

    Raises RefusedRequest, and SocketRequested for a head that passes.
    """
    if size > SMALL or len(headers) > limits.headers:
        check_size(target, headers, limits)
    if parser.get_http_version() not in VERSIONS:
        raise RefusedRequest(400, "This version of HTTP is not spoken here")
    # RFC 9112, section 3.2: exactly one valid Host. Section 6.1: a coding other than chunked, or
    # chunked twice, may be framed in another way by a proxy before us (request smuggling).
    host, chunked, is_socket = None, False, False
    for name, value in headers:
        if name in _CHECKED:
            if name == b"host":
                if host is not None or not _is_host(value):
                    raise RefusedRequest(400, "There must be one valid Host header")
                host = value
            elif name == b"upgrade":
                # Other upgrades are ignored, as RFC 9110, section 7.8, allows.
                is_socket |= value.strip().lower() == b"websocket"
            elif chunked or value.lower() != b"chunked":
                raise RefusedRequest(400, "Transfer-Encoding must be chunked")
            else:
                chunked = True
    if host is None:
        raise RefusedRequest(400, "There must be one valid Host header")
    check_target(parser.get_method(), target, host)
    if is_socket:
        raise SocketRequested
    return chunked


def check_target(method: bytes, target: bytes, host: bytes) -> None:
    """Refuse what is no plain path, and methods that are not served."""
    if method in NOT_SERVED:
        raise RefusedRequest(405, "Method not allowed")
    if not _is_path(target) and not (target == b"*" and method == b"OPTIONS"):
        whole = _absolute(target)
        is_own = whole and whole[1].lower() == host.lower() and _is_path(whole[2] or b"/")
        if not is_own:
            raise RefusedRequest(400, "The request target is malformed")


def check_size(target: bytes, headers: Headers, limits: ServerLimits) -> None:
    if len(target) > limits.request_line:
        raise RefusedRequest(414, "The request line is too long")
    if len(headers) > limits.headers:
        raise RefusedRequest(431, "There are too many headers")
    total = 0
    for name, value in headers:
        length = len(name) + len(value) + 4
        total += length
        if length > (limits.cookie if name == b"cookie" else limits.header):
            raise RefusedRequest(431, "A header is too long")
    if total > limits.head:
        raise RefusedRequest(431, "The headers are too long")


def check_unfinished(target: bytes, size: int, limits: ServerLimits) -> None:
    """Refuse a head that is too long before it has ended."""
    if len(target) > limits.request_line:
        raise RefusedRequest(414, "The request line is too long")
    if size > limits.request_line + limits.head + 4 * limits.headers:
        raise RefusedRequest(431, "The headers are too long")


def origin_form(target: bytes) -> bytes:
    """The path and query of a checked target: RFC 9112, section 3.2.1."""
    if target[:1] == b"/":
        return target
    whole = _absolute(target)
    return (whole[2] or b"/") if whole else b"/"
