"""A head that comes again: most clients send the same one with every request of a connection.

Only the number behind ``content-length`` differs from one request to the next.
A request whose head equals the one that was parsed and checked before it, byte
for byte but for that number, is not read again. Its body may come behind it:
many clients write the two one after the other.
"""

import re

from ..contracts.asgi import REPEATED_HEAD, RepeatedHead
from .door import Message
from .heads import SMALL, Headers

_END = b"\r\n\r\n"
_MOST_DIGITS = 10
MOST_WAITED_FOR = 64 * 1024
"""A longer body is read as it comes."""
_length = re.compile(rb"\r\n[Cc]ontent-[Ll]ength:[ \t]*([0-9]+)[ \t]*\r\n")
_NOT_PLAIN = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"connection"})
"""Headers that say more of a connection than that it goes on."""
_GOES_ON = b"keep-alive"


class Repeated:
    """A head that may come again, and what was read in it."""

    __slots__ = ("_headers", "_place", "_prefix", "_scope", "_suffix", "kept", "lacks")

    def __init__(
        self, prefix: bytes, suffix: bytes, headers: Headers, place: int, scope: Message
    ) -> None:
        """``prefix`` and ``suffix`` stand around the length; ``place`` is its header's."""
        self._prefix, self._suffix = prefix, suffix
        self._headers, self._place = headers, place
        self._scope = dict(scope)
        self.kept = RepeatedHead(headers[place][1])
        self.lacks = 0
        """How many bytes are still to come of the body that was looked at last; below 0, how many
        came behind it."""

    def again(self, data: bytes) -> bytes | None:
        """The body of a request, if ``data`` is nothing but that."""
        prefix, suffix = self._prefix, self._suffix
        begin = len(prefix)
        end = data.find(b"\r\n", begin, begin + _MOST_DIGITS + 2)
        self.lacks = 0
        if end < 0 or not data.startswith(suffix, end) or not data.startswith(prefix):
            return None
        length, body = data[begin:end], data[end + len(suffix) :]
        if not length.isdigit():
            return None
        self.lacks = int(length) - len(body)
        if self.lacks:
            return None
        self.kept.length = length
        return body

    def scope(self) -> Message:
        """Of the request that came last."""
        headers = list(self._headers)
        headers[self._place] = (b"content-length", self.kept.length)
        return {**self._scope, "headers": headers, "state": {}, REPEATED_HEAD: self.kept}


def repeated(piece: bytes, headers: Headers, scope: Message) -> Repeated | None:
    """What to compare the next request with; ``None`` for a head that has to be read each time.

    ``piece`` begins with the head, which was parsed and checked.
    """
    end = piece.find(_END)
    if not 0 <= end <= SMALL or scope["http_version"] != "1.1" or scope["method"] == "HEAD":
        return None
    head = piece[: end + len(_END)]
    found = _length.search(head)
    places = [place for place, (name, _) in enumerate(headers) if name == b"content-length"]
    if found is None or len(places) != 1 or not all(map(_is_plain, headers)):
        return None
    return Repeated(head[: found.start(1)], head[found.end(1) :], headers, places[0], scope)


def _is_plain(header: tuple[bytes, bytes]) -> bool:
    name, value = header
    if name == b"connection":
        return value.lower() == _GOES_ON
    return name not in _NOT_PLAIN
