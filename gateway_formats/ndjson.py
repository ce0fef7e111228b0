"""Newline-delimited JSON: cutting a byte stream into lines. No I/O."""

from .sse import LIMIT, FrameTooLong


class LineBuffer:
    """Holds the beginning of an unfinished line between chunks."""

    __slots__ = ("_limit", "held")

    def __init__(self, limit: int = LIMIT) -> None:
        self.held = bytearray()
        """The unfinished line."""
        self._limit = limit

    def feed(self, chunk: bytes) -> bytes:
        """The longest run of whole lines that is complete now, exactly as it came."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self.held += chunk
            if len(self.held) > self._limit:
                raise FrameTooLong(f"a line is longer than {self._limit} bytes")
            return b""
        whole = bytes(self.held) + chunk[:end] if self.held else chunk[:end]
        self.held[:] = chunk[end:]
        return whole

    def close(self) -> bytes:
        """What is left: a last line without its newline, or nothing."""
        rest = bytes(self.held)
        self.held.clear()
        return rest


def split_lines(whole: bytes) -> list[bytes]:
    """The lines in a run of whole lines, without blank ones and without JSON's white space."""
    return [line for each in whole.split(b"\n") if (line := each.strip(b" \t\r"))]


# RFC 8259, section 7, lets these stand unescaped in strings; str.splitlines splits at them.
_SEPARATORS = (
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
    (b"\xc2\x85", b"\\u0085"),
)


def escape_line_separators(json: bytes) -> bytes:
    """JSON without the characters at which some clients' line readers split by mistake.

    U+2028, U+2029 and U+0085 may stand in JSON only within strings, so escaping
    them changes no value.
    """
    if json.isascii():
        return json
    for character, escape in _SEPARATORS:
        json = json.replace(character, escape)
    return json
