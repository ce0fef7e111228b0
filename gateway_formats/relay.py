"""Watching answers that pass through in their own format.

What the client gets is always the beginning of a well-formed stream: whole
frames, as they came, up to the first one that makes no sense. A format gives
a ``Watch``, which looks at each frame; these classes do the rest.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from gateway_core import ReplyFailed, UpstreamError, Usage

from .fold import as_failure
from .ndjson import Lines, lines
from .sse import Frames, FrameTooLong, blocks, read_block

CUT_SHORT = "The upstream ended the stream before the answer was complete"
RUBBISH = "The upstream sent an event that could not be read"


class Watch(Protocol):
    """A format's eye on a passing stream."""

    usage: Usage | None
    started: bool
    ended: bool
    """True once the frame that properly ends a stream has passed."""
    characters: int

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        """Note what a frame says.

        True lets it pass, False leaves it out, a ReplyFailed says that the frame
        is the vendor's own error. Raises msgspec.MsgspecError for rubbish.
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
        self._frames: Frames | Lines = Lines() if lines_only else Frames()
        self._lines_only = lines_only

    @property
    def usage(self) -> Usage | None:
        return self.watch.usage

    @property
    def started(self) -> bool:
        return self.watch.started

    @property
    def ended(self) -> bool:
        return self.watch.ended

    @property
    def characters(self) -> int:
        return self.watch.characters

    def feed(self, chunk: bytes) -> bytes:
        if self.failure is not None:
            return b""
        try:
            whole = self._frames.feed(chunk)
        except FrameTooLong as error:
            return self.fail(ReplyFailed(str(error)))
        if whole[:6] == b"data: " and b"\r" not in whole and not self._lines_only:
            texts = whole[6:-2].split(b"\n\ndata: ")
            if whole.count(b"\n") == 2 * len(texts):
                return self._plain(whole, texts)
        return self._passed(whole) if whole else b""

    def close(self) -> bytes:
        """End the stream: a last frame may lack its blank line, but not its meaning."""
        if self.failure is not None:
            return b""
        rest = self._frames.close()
        end = b"\n" if self._lines_only else b"\n\n"
        passed = self._passed(rest + end) if rest.strip() else b""
        if self.failure is None and not self.watch.ended:
            passed += self.fail(ReplyFailed(CUT_SHORT))
        return passed

    def fail(self, failure: ReplyFailed) -> bytes:
        if self.failure is not None or self.watch.ended:
            return b""
        self.failure = failure
        return self.watch.error_frame(failure)

    def _plain(self, whole: bytes, texts: list[bytes]) -> bytes:
        """A run of frames that are one line of data each, as nearly all are."""
        look, passing = self.watch.look, texts
        for index, text in enumerate(texts):
            try:
                seen = not text or look(b"", text)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                seen = ReplyFailed(RUBBISH)
            if seen is True:
                if passing is not texts:
                    passing.append(text)
            elif seen is False:
                passing = texts[:index] if passing is texts else passing
            else:
                before = texts[:index] if passing is texts else passing
                return _framed(before) + self.fail(seen)
        return whole if passing is texts else _framed(passing)

    def _passed(self, whole: bytes) -> bytes:
        found = lines(whole) if self._lines_only else blocks(whole)
        look, passing = self.watch.look, found
        for index, block in enumerate(found):
            if self._lines_only:
                event, data = b"", block
            else:
                event, data = read_block(block)
            try:
                seen = not data or look(event, data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                seen = ReplyFailed(RUBBISH)
            if seen is True:
                if passing is not found:
                    passing.append(block)
            elif seen is False:
                passing = found[:index] if passing is found else passing
            else:
                before = found[:index] if passing is found else passing
                return self._joined(before) + self.fail(seen)
        return whole if passing is found else self._joined(passing)

    def _joined(self, found: list[bytes]) -> bytes:
        end = b"\n" if self._lines_only else b"\n\n"
        return b"".join(block + end for block in found)


def _framed(texts: list[bytes]) -> bytes:
    return b"".join(b"data: %b\n\n" % text for text in texts)


class WholeRelay:
    """Holds a whole answer and gives it as it came, once it has been understood.

    ``read`` gives the usage and the answer's length in characters; it raises
    UpstreamError for an error in disguise and MsgspecError for rubbish.
    """

    def __init__(self, read: Callable[[bytes], tuple[Usage | None, int]]) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self.failure: ReplyFailed | None = None
        self._read = read
        self._held: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        self._held.append(chunk)
        return b""

    def close(self) -> bytes:
        body = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        try:
            self.usage, self.characters = self._read(body)
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
