"""Server-sent events: cutting a byte stream into frames, and writing frames.

Follows WHATWG HTML, section 9.2 (server-sent events), for LF, CRLF and CR line
ends, comments and data of several lines. No I/O.
"""

import re

# The end of a line is CRLF, LF or CR: WHATWG HTML, section 9.2.5.
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NAMED = re.compile(rb"(?m)^event: (.++)\ndata: (.++)\n\n")
_PLAIN = re.compile(rb"data: (.++)\n\n")
"""Frames as nearly every vendor writes them, with a name and without; a read mostly brings one."""
# One byte order mark may stand before the first line: WHATWG HTML, section 9.2.5.
_BOM = b"\xef\xbb\xbf"
CR, LF = b"\r\n"
"""As numbers, which are looked for in bytes far more quickly than bytes are."""

LIMIT = 16 * 1024 * 1024
"""Longest frame, bytes."""


class FrameTooLong(ValueError):
    """A frame passed the limit without an end."""


class FrameBuffer:
    """Holds the beginning of an unfinished frame between chunks."""

    __slots__ = ("_limit", "_searched", "held")

    def __init__(self, limit: int = LIMIT) -> None:
        self.held = bytearray()
        """The unfinished frame."""
        self._searched = 0
        self._limit = limit

    def feed(self, chunk: bytes) -> bytes:
        """The longest run of whole frames that is complete now, exactly as it came."""
        if not self.held and chunk.endswith((b"\n\n", b"\r\n\r\n")):
            return chunk
        self.held += chunk
        return self._take(self._last_end())

    def close(self) -> bytes:
        """What is left: a frame whose closing blank line never came, or nothing."""
        rest = bytes(self.held)
        self.held.clear()
        self._searched = 0
        return rest

    def _last_end(self) -> int:
        held, start = self.held, max(0, self._searched - 3)
        if held.rfind(LF, start) < 0 and held.find(CR, start) < 0:
            return 0
        line, lines = held.rfind(b"\n\n", start), held.rfind(b"\r\n\r\n", start)
        end = max(line + 2 if line >= 0 else 0, lines + 4 if lines >= 0 else 0)
        if held.find(b"\r", max(start, end)) >= 0:
            # A CR at the very end may be half of a CRLF whose LF has not come yet.
            edge = len(held) - held.endswith(b"\r")
            for match in _BLANK_LINE.finditer(held, max(start, end - 2), edge):
                end = max(end, match.end())
        return end

    def _take(self, end: int) -> bytes:
        if not end:
            self._searched = len(self.held)
            if self._searched > self._limit:
                raise FrameTooLong(f"an event is longer than {self._limit} bytes")
            return b""
        self._searched = 0
        if end == len(self.held):
            whole = bytes(self.held)
            self.held = bytearray()
        else:
            whole = bytes(self.held[:end])
            del self.held[:end]
        return whole


def split_frames(whole: bytes) -> list[bytes]:
    """The frames in a run of whole frames, without their blank lines."""
    if CR in whole:
        if whole.count(b"\r\n") == whole.count(b"\n") == whole.count(b"\r"):
            return [block for block in whole.split(b"\r\n\r\n") if block.strip(b"\r\n")]
        return [block for block in _BLANK_LINE.split(whole) if block.strip(b"\r\n")]
    return [block for block in whole.split(b"\n\n") if block]


def parse_frame(block: bytes) -> tuple[bytes, bytes]:
    """A frame's event name and data; data is empty for a comment."""
    if CR not in block:  # The two shapes that nearly every frame has.
        head, newline, rest = block.partition(b"\n")
        if not newline and head[:6] == b"data: ":
            return b"", head[6:]
        if head[:7] == b"event: " and rest[:6] == b"data: " and b"\n" not in rest:
            return head[7:], rest[6:]
    name, data = b"", []
    for line in _LINE_END.split(block.removeprefix(_BOM)):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")  # one space, and no more: section 9.2.6
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    # Several data lines are one text with LF between: section 9.2.6.
    return name, b"\n".join(data)


class EventDecoder:
    """Chunks to ``(event, data)`` pairs; frames without data are left out."""

    __slots__ = ("_frames",)

    def __init__(self, limit: int = LIMIT) -> None:
        self._frames = FrameBuffer(limit)

    @property
    def held(self) -> bytearray:
        """The beginning of a frame that is not whole yet."""
        return self._frames.held

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        return parse_events(self._frames.feed(chunk))

    def close(self) -> list[tuple[bytes, bytes]]:
        """A last frame counts even when its blank line is missing."""
        return parse_events(self._frames.close())


def parse_events(whole: bytes) -> list[tuple[bytes, bytes]]:
    """Event names and data of a run of whole frames, without the frames that have no data."""
    if whole[:7] == b"event: " and CR not in whole:
        only = _NAMED.fullmatch(whole)
        if only is not None:
            return [(only[1], only[2])]
        named: list[tuple[bytes, bytes]] = _NAMED.findall(whole)
        if whole.count(b"\n") == 3 * len(named) and whole[-2:] == b"\n\n":
            return named
    return [pair for pair in map(parse_frame, split_frames(whole)) if pair[1]]


def parse_data(whole: bytes) -> list[bytes]:
    """The data of a run of whole frames, for formats whose data says all that a name could."""
    if whole[:6] == b"data: ":
        if CR in whole:
            data = whole[6:-4]
            if data and whole[-4:] == b"\r\n\r\n" and CR not in data and LF not in data:
                return [data]
        elif (only := _PLAIN.fullmatch(whole)) is not None:
            return [only[1]]
        end = b"\r\n\r\n" if whole[-4:] == b"\r\n\r\n" else b"\n\n"
        plain = whole[6 : -len(end)].split(end + b"data: ")
        breaks = len(plain) * len(end)
        if whole[-2:] == end[-2:] and whole.count(b"\n") + whole.count(b"\r") == breaks:
            return [data for data in plain if data]
    return [data for _, data in parse_events(whole)]


def write_losses(names: bytes) -> bytes:
    """A comment with the names of what was lost, which every client skips: section 9.2.6.

    An event of an unknown name would do for most, but some clients take any event that they do
    not know for an error.
    """
    return b": x-gateway-dropped: %b\n\n" % names


def write_frame(data: bytes, event: bytes = b"") -> bytes:
    """One frame; ``data`` is a single line, as JSON is."""
    return b"event: %b\ndata: %b\n\n" % (event, data) if event else b"data: %b\n\n" % data
