"""What the head of a request must look like, beyond what the parser insists on itself.

The parser refuses by itself: repeated, non-decimal or empty Content-Length, the
same together with Transfer-Encoding, folded lines, bare CR or LF, NUL and
control characters in values, names that are no tokens, unknown methods.
"""

import re
from collections.abc import Sequence
from typing import Any

from .limits import Limits

Headers = Sequence[tuple[bytes, bytes]]

SMALL = 8 * 1024
"""A head that came in so few bytes is within every size limit."""
NOT_SERVED = frozenset({b"TRACE", b"CONNECT"})
VERSIONS = frozenset({"1.1", "1.0"})
_WATCHED = frozenset({b"host", b"transfer-encoding", b"upgrade"})
_is_host = re.compile(rb"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.%]+\])(?::[0-9]{1,5})?").fullmatch
_is_path = re.compile(rb'/(?!/)[!"$-\[\]-~]*').fullmatch
_absolute = re.compile(rb"[Hh][Tt][Tt][Pp][Ss]?://([^/?]*)(/.*)?").fullmatch


class Refused(Exception):
    """A request that is not served; ``status`` and a sentence for whoever sent it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def refused_as(error: BaseException) -> Refused:
    """Why the parser gave up: one of our own reasons, or a malformed request."""
    reason = error.__context__
    return reason if isinstance(reason, Refused) else Refused(400, "The request is malformed")


def check_head(parser: Any, target: bytes, headers: Headers, size: float, limits: Limits) -> bool:
    """Whether the body is chunked. ``size`` is how many bytes the head has at most.

    Raises Refused.
    """
    if size > SMALL or len(headers) > limits.headers:
        check_size(target, headers, limits)
    if parser.get_http_version() not in VERSIONS:
        raise Refused(400, "This version of HTTP is not spoken here")
    host, chunked = None, False
    for name, value in headers:
        if name in _WATCHED:
            if name == b"host":
                if host is not None or not _is_host(value):
                    raise Refused(400, "There must be one valid Host header")
                host = value
            elif name == b"upgrade":
                check_upgrade(value)
            elif chunked or value.lower() != b"chunked":
                raise Refused(400, "Transfer-Encoding must be chunked")
            else:
                chunked = True
    if host is None:
        raise Refused(400, "There must be one valid Host header")
    check_target(parser.get_method(), target, host)
    return chunked


def check_target(method: bytes, target: bytes, host: bytes) -> None:
    """Refuse what is no plain path, and methods that nobody serves."""
    if method in NOT_SERVED:
        raise Refused(405, "Method not allowed")
    if not _is_path(target) and not (target == b"*" and method == b"OPTIONS"):
        whole = _absolute(target)
        is_own = whole and whole[1].lower() == host.lower() and _is_path(whole[2] or b"/")
        if not is_own:
            raise Refused(400, "The request target is malformed")


def check_upgrade(value: bytes) -> None:
    """Other upgrades are ignored, as the protocol allows."""
    if value.strip().lower() == b"websocket":
        raise Refused(400, "There is no WebSocket here")


def check_size(target: bytes, headers: Headers, limits: Limits) -> None:
    if len(target) > limits.request_line:
        raise Refused(414, "The request line is too long")
    if len(headers) > limits.headers:
        raise Refused(431, "There are too many headers")
    total = 0
    for name, value in headers:
        length = len(name) + len(value) + 4
        total += length
        if length > (limits.cookie if name == b"cookie" else limits.header):
            raise Refused(431, "A header is too long")
    if total > limits.head:
        raise Refused(431, "The headers are too long")


def check_unfinished(target: bytes, size: int, limits: Limits) -> None:
    """Refuse a head that has not ended after ``size`` bytes and cannot end well any more."""
    if len(target) > limits.request_line:
        raise Refused(414, "The request line is too long")
    if size > limits.request_line + limits.head + 4 * limits.headers:
        raise Refused(431, "The headers are too long")


def path_of(target: bytes) -> bytes:
    """The path and query of a checked target."""
    if target[:1] == b"/":
        return target
    whole = _absolute(target)
    return (whole[2] or b"/") if whole else b"/"
