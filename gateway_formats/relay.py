"""Watching answers that pass through in their own format.

What the client gets is always the beginning of a well-formed stream: whole
frames, as they came, up to the first one that makes no sense. A format gives
a ``Watch``, which looks at each frame; these classes do the rest.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import msgspec

from gateway_core import ReplyFailed, UpstreamError, Usage

from .fold import as_failure
from .frame_template import FrameTemplate, derive_template
from .ndjson import LineBuffer, split_lines
from .sse import CR, FrameBuffer, FrameTooLong, parse_frame, split_frames

CUT_SHORT = "The upstream ended the stream before the answer was complete"
UNREADABLE_EVENT = "The upstream sent an event that could not be read"
MOST_TEMPLATES = 100
"""How many frames of a stream are learnt from; in some no two are alike."""


Taker = Callable[[bytes], bool]
"""Takes bytes; false when it could not, or takes no more."""


class Watch(Protocol):
    """A format's eye on a passing stream."""

    usage: Usage | None
    started: bool
    ended: bool
    """True once the frame that properly ends a stream has passed."""
    characters: int

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str | bytes:
        """Note what a frame says.

        True lets it pass, False leaves it out, bytes are whole frames that take its
        place, a ReplyFailed says that the frame is the vendor's own error. A text lets
        it pass too and says that the frame did nothing but add this text to
        ``characters``: the next frames may differ from it in their text alone, and then
        are not looked at but only counted.
        Raises msgspec.MsgspecError for rubbish.
        """
        ...

    def error_frame(self, failure: ReplyFailed) -> bytes:
        """The format's error frame, fit to follow what has passed so far."""
        ...


class StreamRelay:
    """Passes a stream of frames on. ``lines_only`` is for newline-delimited JSON."""

    def __init__(self, watch: Watch, *, lines_only: bool = False) -> None:
        self.watch = watch
        self.failure: ReplyFailed | None = None
        self.ended = False
        self._frames: FrameBuffer | LineBuffer = LineBuffer() if lines_only else FrameBuffer()
        self._lines_only = lines_only
        self._template: FrameTemplate | None = None
        """What the last frames have in common, while they bring nothing but text. It halves the
        instructions of a passing stream (benchmarks/short-cuts-openai.md)."""
        self._tries = MOST_TEMPLATES

    @property
    def usage(self) -> Usage | None:
        return self.watch.usage

    @property
    def started(self) -> bool:
        return self.watch.started

    @property
    def characters(self) -> int:
        return self.watch.characters

    @property
    def passing(self) -> Callable[[Taker, Taker], Taker] | None:
        """Makes of a ``push`` and a ``take`` what takes a chunk: one that ``feed`` would give back
        as it is, and learn nothing from but its length, is pushed at once; any other, and one that
        cannot be pushed, is for ``take``. ``None`` for a relay with a ``feed`` of its own."""
        return self._passing if type(self).feed is StreamRelay.feed else None

    def _passing(self, push: Taker, take: Taker) -> Taker:
        frames, watch = self._frames, self.watch

        def take_or_push(chunk: bytes) -> bool:
            template = self._template
            if template is not None and not frames.held:
                length = template.length(chunk)
                if length and push(chunk):
                    watch.characters += length
                    return True
            return take(chunk)

        return take_or_push

    def feed(self, chunk: bytes) -> bytes:
        if self._template is not None and not self._frames.held:
            length = self._template.length(chunk)
            self.watch.characters += length
            if length:
                return chunk
        if self.failure is not None:
            return b""
        try:
            whole = self._frames.feed(chunk)
        except FrameTooLong as error:
            return self.fail(ReplyFailed(str(error)))
        return self._pass(whole) if whole else b""

    def close(self) -> bytes:
        """End the stream: a last frame may lack its blank line, but not its meaning."""
        if self.failure is not None:
            return b""
        rest = self._frames.close()
        end = b"\n" if self._lines_only else b"\n\n"
        passed = self._pass(rest + end) if rest.strip() else b""
        self.ended = self.watch.ended
        if self.failure is None and not self.ended:
            passed += self.fail(ReplyFailed(CUT_SHORT))
        return passed

    def fail(self, failure: ReplyFailed) -> bytes:
        # An error frame after the proper end would break a complete answer.
        if self.failure is not None or self.watch.ended:
            return b""
        self.failure = failure
        self._template = None
        return self.watch.error_frame(failure)

    def _pass(self, whole: bytes) -> bytes:
        if not self._lines_only and CR not in whole:
            return self._pass_lf_frames(whole)
        self._template = None
        if self._lines_only:
            return self._pass_each(whole, split_lines(whole), b"\n")
        return self._pass_each(whole, split_frames(whole), b"\n\n")

    def _pass_lf_frames(self, whole: bytes) -> bytes:
        """Frames whose lines end in LF."""
        at, begin, kept = self._run(whole, 0), 0, list[bytes]()
        while (end := whole.find(b"\n\n", at) + 2) >= 2:
            template, seen = self._template, self._see(whole[at:end])
            if isinstance(seen, ReplyFailed):
                return b"".join((*kept, whole[begin:at], self.fail(seen)))
            if seen is not True:
                kept += (whole[begin:at], seen or b"")
                begin = end
            at = end if self._template is template else self._run(whole, end)
        return b"".join((*kept, whole[begin:])) if kept else whole

    def _run(self, whole: bytes, at: int) -> int:
        """Skip frames that fit the template, if all up to the last such do; the new position."""
        if self._template is None:
            return at
        end = self._template.last_end(whole)
        length = self._template.length(whole[at:end])
        self.watch.characters += length
        return end if length else at

    def _see(self, frame: bytes) -> ReplyFailed | bool | bytes:
        length = 0 if self._template is None else self._template.length(frame)
        if length:
            self.watch.characters += length
            return True
        seen = self._look(*parse_frame(frame[:-2]))
        if not isinstance(seen, str):
            self._template = None
            return seen
        if self._tries:
            self._tries -= 1
            self._template = derive_template(frame, seen) or self._template
        return True

    def _pass_each(self, whole: bytes, frames: list[bytes], end: bytes) -> bytes:
        passing = frames
        for index, block in enumerate(frames):
            seen = self._look(*((b"", block) if self._lines_only else parse_frame(block)))
            if isinstance(seen, ReplyFailed):
                before = frames[:index] if passing is frames else passing
                return _joined(before, end) + self.fail(seen)
            if (seen is False or isinstance(seen, bytes)) and passing is frames:
                passing = frames[:index]
            if isinstance(seen, bytes):
                passing += split_lines(seen) if self._lines_only else split_frames(seen)
            elif seen is not False and passing is not frames:
                passing.append(block)
        return whole if passing is frames else _joined(passing, end)

    def _look(self, event: bytes, data: bytes) -> ReplyFailed | bool | str | bytes:
        if not data:
            return True
        try:
            seen = self.watch.look(event, data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ReplyFailed(UNREADABLE_EVENT)
        self.ended = self.watch.ended
        return seen


def _joined(blocks: list[bytes], end: bytes) -> bytes:
    return b"".join(block + end for block in blocks)


class HeldRelay(ABC):
    """Holds a whole answer and gives it as it came, once it has been understood."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self.failure: ReplyFailed | None = None
        self._held: list[bytes] = []

    @abstractmethod
    def look(self, body: bytes) -> tuple[Usage | None, int]:
        """The usage and the answer's length in characters. Raises UpstreamError for an error in
        disguise and MsgspecError for rubbish."""

    def feed(self, chunk: bytes) -> bytes:
        self._held.append(chunk)
        return b""

    def close(self) -> bytes:
        body = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        try:
            self.usage, self.characters = self.look(body)
        except UpstreamError as error:
            return self.fail(as_failure(error))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self.fail(ReplyFailed("The upstream gave an answer that could not be read"))
        self.started = self.ended = True
        return body

    def fail(self, failure: ReplyFailed) -> bytes:
        """Nothing has been sent yet, so the error goes out as an ordinary error answer."""
        self.failure = failure
        return b""


class WholeRelay(HeldRelay):
    """One that looks with a function, ``read``.

    A relay that looks with a method of its own is a ``HeldRelay``: if it had the method as its
    ``read``, it would refer to itself, and keep its answer until the collector of circles runs.
    """

    def __init__(self, read: Callable[[bytes], tuple[Usage | None, int]]) -> None:
        super().__init__()
        self._read = read

    def look(self, body: bytes) -> tuple[Usage | None, int]:
        return self._read(body)
