"""Frames that are alike but for a piece of text, as nearly all frames of one stream are.

    data: {"id":"a1","choices":[{"delta":{"content":" the"},"index":0}]}
    data: {"id":"a1","choices":[{"delta":{"content":" end"},"index":0}]}
    └────────────────── before ────────────────────┘ text └── after ───┘

Once the first has been read, the second needs no reading: if what stands
between is a JSON string, it says the same with another text.
"""

import msgspec

BACKSLASH = ord("\\")
_string = msgspec.json.Decoder(str).decode


class Likeness:
    """What such frames have before and after the text, whose quotes belong to neither."""

    __slots__ = ("_after", "_around", "_before", "_between")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before, self._after = before, after
        self._between = b'"%b%b"' % (after, before)
        self._around = len(before) + len(after)

    def length(self, whole: bytes) -> int:
        """Characters of text in one or more frames; 0 where anything is not like this."""
        text = whole.removeprefix(self._before).removesuffix(self._after)
        size = len(text)
        if size + self._around != len(whole):
            return 0
        if size > self._around:  # Else it cannot hold the sides of two more frames.
            text = text.replace(self._between, b"")
            if BACKSLASH in text:  # What it begins may be in another frame than its end.
                return 0
        try:
            return len(_string(text))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return 0

    def last_end(self, whole: bytes) -> int:
        """Where the last frame ends that ends like this; 0 for none."""
        end = b'"' + self._after
        found = whole.rfind(end)
        return found + len(end) if found >= 0 else 0


def likeness_of(frame: bytes, text: str) -> Likeness | None:
    """What a frame has around its text; ``None`` where the place of the text is in doubt."""
    value = b'"%b"' % text.encode()
    start = frame.find(value)
    if start < 0 or frame.rfind(value) != start or BACKSLASH in frame:
        return None
    return Likeness(frame[:start], frame[start + len(value) :])
