"""Reading streams of which most frames differ from the last one in nothing but their text.

    frames ──▶ like the one before? ──▶ its text
                      │
                      no ──▶ looked at ──▶ what the next ones may be like

Only the frames that are not alike are read as the format wants it.
"""

from collections.abc import Callable

from .frame_template import FrameTemplate, derive_template
from .relay import MOST_TEMPLATES
from .sse import CR, parse_events, parse_frame

Look = Callable[[bytes, bytes], str | None]
"""Reads a frame by its name and data. Gives a text when the frame did nothing but add it and
would have done nothing else with another one, an empty text when it did more, and ``None`` when
no more frames are wanted."""


class FrameScanner:
    """Goes through the frames of one stream."""

    __slots__ = ("_alike", "_tries")

    def __init__(self) -> None:
        self._alike: FrameTemplate | None = None
        """What the last frames have in common, while they bring nothing but text."""
        self._tries = MOST_TEMPLATES

    def text(self, frame: bytes) -> str:
        """The text of a frame that is like the last one; empty for any other."""
        return "" if self._alike is None else self._alike.text(frame)

    def through(self, whole: bytes, look: Look, tell: Callable[[list[str]], None]) -> None:
        """Go through whole frames in their order: ``tell`` is given the texts of those alike.

        Raises what ``look`` raises.
        """
        if CR in whole:
            self._each(whole, look)
            return
        at = self._run(whole, 0, tell)
        while (end := whole.find(b"\n\n", at) + 2) >= 2:
            frame, at = whole[at:end], end
            if text := self.text(frame):
                tell([text])
                continue
            name, data = parse_frame(frame[:-2])
            added = look(name, data) if data else ""
            if added is None:
                return
            if self._has_learnt(frame, added):
                at = self._run(whole, at, tell)

    def _each(self, whole: bytes, look: Look) -> None:
        self._alike = None
        for name, data in parse_events(whole):
            if look(name, data) is None:
                return

    def _has_learnt(self, frame: bytes, text: str) -> bool:
        """Note what the next frames may be like, if this one brought nothing but text."""
        self._alike = None
        if text and self._tries:
            self._tries -= 1
            self._alike = derive_template(frame, text)
        return self._alike is not None

    def _run(self, whole: bytes, at: int, tell: Callable[[list[str]], None]) -> int:
        """Tell of the frames from ``at`` on that are like the last one; where to go on."""
        if self._alike is None or at == len(whole):
            return at
        texts, end = self._alike.run(whole, at)
        if texts:
            tell(texts)
        return end
