"""The head of a response: status line and header lines, checked and formatted."""

import re
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus

Header = tuple[bytes, bytes]

# RFC 9110, sections 15.3.5 and 15.4.5: these have no content.
BODILESS = frozenset({204, 304})
FAILED = b"Internal Server Error"
FAILED_HEADERS = (
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"content-length", str(len(FAILED)).encode()),
    (b"connection", b"close"),
)
# RFC 9110, section 5.6.2: a field name is a token.
_is_name = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
# RFC 9110, section 5.5: a line break in a value would begin another header, or the body.
_CONTROLS = bytes(code for code in (*range(32), 127) if code != ord("\t"))


class CommonHeaders:
    """The headers that every response has; none is about its body or its connection."""

    __slots__ = ("headers", "lines")

    def __init__(self, *headers: Header) -> None:
        """Raises RuntimeError for a header that cannot be sent."""
        self.replace(*headers)

    def replace(self, *headers: Header) -> None:
        """Send these from now on. Raises RuntimeError for a header that cannot be sent."""
        self.headers, self.lines = headers, format_headers(headers)


@lru_cache(maxsize=64)
def format_status(status: int) -> bytes:
    """The status line."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


def format_headers(headers: Sequence[Header]) -> bytes:
    """Header lines. Raises RuntimeError for a header that cannot be sent."""
    each = [format_name(name) + value for name, value in headers]
    each.append(b"")
    lines = b"\r\n".join(each)
    # Each line holds two control characters, at its end.
    if len(lines) - len(lines.translate(None, _CONTROLS)) != 2 * len(headers):
        raise RuntimeError("a header holds control characters")
    return lines


@lru_cache(maxsize=1024)
def format_name(name: bytes) -> bytes:
    """A header's name as it begins its line. Raises RuntimeError for what is no name."""
    if _is_name(name) is None:
        raise RuntimeError("the name of a header is malformed")
    return name.lower() + b": "
