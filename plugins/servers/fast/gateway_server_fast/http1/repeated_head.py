"""A request head that is the same as the one before: most clients of a connection send such.

Only the number behind ``content-length`` differs from one request to the next.
A head that equals the parsed and checked one before it, byte for byte but for
that number, is not parsed again. Its body may come after it: many clients
write head and body separately.
"""

import re

from gateway_core import REPEATED_HEAD, RepeatedHead

from ..connections import Message
from .request_head import SMALL, Headers

_END = b"\r\n\r\n"
_MAX_DIGITS = 10
MAX_HELD_BODY = 64 * 1024
"""A longer body is passed on as it comes."""
_length = re.compile(rb"\r\n[Cc]ontent-[Ll]ength:[ \t]*([0-9]+)[ \t]*\r\n")
_UNSUITABLE = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"connection"})
"""Headers that say more about a connection than that it is kept alive."""
_KEEP_ALIVE = b"keep-alive"


class RepeatableHead:
    """A head that may come again, and what was parsed from it."""

    __slots__ = ("_headers", "_place", "_prefix", "_scope", "_suffix", "head", "missing")

    def __init__(
        self, prefix: bytes, suffix: bytes, headers: Headers, place: int, scope: Message
    ) -> None:
        """``prefix`` and ``suffix`` surround the length; ``place`` is the index of its header."""
        self._prefix, self._suffix = prefix, suffix
        self._headers, self._place = headers, place
        self._scope = dict(scope)
        self.head = RepeatedHead(headers[place][1])
        self.missing = 0
        """Bytes still to come of the last body; below 0, how many came behind it."""

    def match(self, data: bytes) -> bytes | None:
        """The body of a request, if ``data`` is nothing but that."""
        prefix, suffix = self._prefix, self._suffix
        begin = len(prefix)
        end = data.find(b"\r\n", begin, begin + _MAX_DIGITS + 2)
        self.missing = 0
        if end < 0 or not data.startswith(suffix, end) or not data.startswith(prefix):
            return None
        length, body = data[begin:end], data[end + len(suffix) :]
        if not length.isdigit():
            return None
        self.missing = int(length) - len(body)
        if self.missing:
            return None
        self.head.length = length
        return body

    def scope(self) -> Message:
        """The ASGI scope of the last request."""
        headers = list(self._headers)
        headers[self._place] = (b"content-length", self.head.length)
        return {**self._scope, "headers": headers, "state": {}, REPEATED_HEAD: self.head}


def find_repeatable(piece: bytes, headers: Headers, scope: Message) -> RepeatableHead | None:
    """What to compare the next request with; ``None`` for a head that is parsed each time.

    ``piece`` begins with the head, which has been parsed and checked.
    """
    end = piece.find(_END)
    if not 0 <= end <= SMALL or scope["http_version"] != "1.1" or scope["method"] == "HEAD":
        return None
    head = piece[: end + len(_END)]
    length = _length.search(head)
    places = [place for place, (name, _) in enumerate(headers) if name == b"content-length"]
    if length is None or len(places) != 1:
        return None
    for name, value in headers:
        is_keep_alive = name == b"connection" and value.lower() == _KEEP_ALIVE
        if name in _UNSUITABLE and not is_keep_alive:
            return None
    return RepeatableHead(head[: length.start(1)], head[length.end(1) :], headers, places[0], scope)


def _is_suitable(header: tuple[bytes, bytes]) -> bool:
    name, value = header
    if name == b"connection":
        return value.lower() == _KEEP_ALIVE
    return name not in _UNSUITABLE
