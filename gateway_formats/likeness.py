"""Frames that are alike but for a piece of text, as nearly all frames of one stream are.

    data: {"id":"a1","choices":[{"delta":{"content":" the"},"index":0}]}
    data: {"id":"a1","choices":[{"delta":{"content":" end"},"index":0}]}
    └────────────────── before ─────────────────────┘text└── after ────┘

Once the first has been read, the second needs no reading: if what stands
between is the plain inside of a JSON string, it says the same with another text.
"""

QUOTE, BACKSLASH = b'"\\'


class Likeness:
    """What such frames have before and after the text, its quotes included."""

    __slots__ = ("_after", "_before", "_between", "_end", "_start")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before, self._after = before, after
        self._between = after + before
        self._start, self._end = len(before), -len(after)

    def length(self, whole: bytes) -> int:
        """Characters of text in one or more frames; 0 where anything is not like this."""
        if not (whole.startswith(self._before) and whole.endswith(self._after)):
            return 0
        inside = whole[self._start : self._end]
        if QUOTE in inside:
            inside = inside.replace(self._between, b"")
        if QUOTE in inside or BACKSLASH in inside:
            return 0
        try:
            text = inside.decode()
        except UnicodeDecodeError:
            return 0
        return len(text) if text.isprintable() else 0

    def last_end(self, whole: bytes) -> int:
        """Where the last frame ends that ends like this; 0 for none."""
        found = whole.rfind(self._after)
        return found - self._end if found >= 0 else 0


def likeness_of(frame: bytes, text: str) -> Likeness | None:
    """What a frame has around its text; ``None`` where the place of the text is in doubt."""
    value = b'"%b"' % text.encode()
    start = frame.find(value)
    if start < 0 or frame.rfind(value) != start or BACKSLASH in frame:
        return None
    return Likeness(frame[: start + 1], frame[start + len(value) - 1 :])
