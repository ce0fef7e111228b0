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

    __slots__ = ("_template", "_tries")

    def __init__(self) -> None:
        self._template: FrameTemplate | None = None
        """What the last frames have in common, while they bring nothing but text."""
        self._tries = MOST_TEMPLATES

    def text(self, frame: bytes) -> str:
        """The text of a frame that is like the last one; empty for any other."""
        return "" if self._template is None else self._template.text(frame)

    def through(self, whole: bytes, look: Look, tell: Callable[[list[str]], None]) -> None:
        """Go through whole frames in their order: ``tell`` gets the texts of those alike.

        Raises what ``look`` raises.
        """
        if CR in whole:
            # CR and CRLF line ends too: WHATWG HTML, section 9.2.6. They fit no template.
            self._template = None
            for name, data in parse_events(whole):
                if look(name, data) is None:
                    break
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
            self._template = None
            if added and self._tries:
                self._tries -= 1
                self._template = derive_template(frame, added)
                at = self._run(whole, at, tell)

    def _run(self, whole: bytes, at: int, tell: Callable[[list[str]], None]) -> int:
        """Give the texts of the frames from ``at`` on that fit the template; the new position."""
        if self._template is None or at == len(whole):
            return at
        texts, end = self._template.run(whole, at)
        if texts:
            tell(texts)
        return end
