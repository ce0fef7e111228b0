"""Frames that are alike but for a piece of text, as nearly all frames of one stream are.

    data: {"id":"a1","choices":[{"delta":{"content":" the"},"index":0}]}
    data: {"id":"a1","choices":[{"delta":{"content":" end"},"index":0}]}
    └────────────────── before ────────────────────┘ text └── after ───┘

Once the first has been read, the second needs no reading: if what stands
between is a JSON string, it says the same with another text.
"""

import msgspec

BACKSLASH, QUOTE = b'\\"'
JOINT = b" "
"""Stands between the texts of two frames: no character begins in one and ends in the next."""
LONGEST = 64 * 1024
"""Bytes of a frame that is worth learning from."""
_string = msgspec.json.Decoder(str).decode
_strings = msgspec.json.Decoder(list[str]).decode


class FrameTemplate:
    """What such frames have before and after the text, whose quotes belong to neither."""

    __slots__ = ("_after", "_around", "_before", "_between", "_edges", "_gap", "_head", "_tail")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before, self._after = before, after
        self._between = b'"%b%b"' % (after, before)
        self._gap = len(self._between) - len(JOINT)
        self._around = len(before) + len(after)
        self._head, self._tail = before + b'"', b'"' + after
        self._edges = self._around + 2

    def length(self, whole: bytes) -> int:
        """Characters of text in one or more frames; 0 where anything is not like this."""
        text = whole.removeprefix(self._before).removesuffix(self._after)
        size = len(text)
        if not size or size + self._around != len(whole) or not text[0] == text[-1] == QUOTE:
            return 0
        joints = 0
        if size > self._around:  # Else it cannot hold the sides of two more frames.
            text = text.replace(self._between, JOINT)
            if BACKSLASH in text:  # What it begins may be in another frame than its end.
                return 0
            joints = (size - len(text)) // self._gap
        try:
            return len(_string(text)) - joints
        except (msgspec.DecodeError, UnicodeDecodeError):
            return 0

    def text(self, frame: bytes) -> str:
        """The text of one frame; empty where the frame is not like this, or its text is."""
        text = frame.removeprefix(self._before).removesuffix(self._after)
        size = len(text)
        if not size or size + self._around != len(frame) or not text[0] == text[-1] == QUOTE:
            return ""
        try:
            return _string(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""

    def run(self, whole: bytes, at: int) -> tuple[list[str], int]:
        """The texts of the frames from ``at`` on that are like this, none of them empty, and where
        the last one of them ends. Some that are alike may be left over."""
        frames = whole[at:].split(self._tail)
        end = len(whole) - len(frames.pop())
        pieces = [frame.removeprefix(self._head) for frame in frames]
        if sum(map(len, pieces)) + len(pieces) * self._edges != end - at:
            heads = [len(frame) - len(piece) for frame, piece in zip(frames, pieces, strict=True)]
            del pieces[heads.index(0) :]
            end = at + sum(map(len, pieces)) + len(pieces) * self._edges
        try:
            texts = _strings(b'["%b"]' % b'","'.join(pieces))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return [], at
        # A backslash at the end of one makes one string of two.
        if not texts or len(texts) != len(pieces) or "" in texts:
            return [], at
        return texts, end

    def last_end(self, whole: bytes) -> int:
        """Where the last frame ends that ends like this; 0 for none."""
        position = whole.rfind(self._tail)
        return position + len(self._tail) if position >= 0 else 0


def derive_template(frame: bytes, text: str) -> FrameTemplate | None:
    """What a frame has around its text; ``None`` where the place of the text is in doubt."""
    # An escape may make the text in the frame differ from the decoded one.
    if len(frame) > LONGEST or BACKSLASH in frame:
        return None
    value = b'"%b"' % text.encode()
    start = frame.find(value)
    # A text that stands twice leaves open which of the two places is the text's.
    if start < 0 or frame.rfind(value) != start:
        return None
    return FrameTemplate(frame[:start], frame[start + len(value) :])
