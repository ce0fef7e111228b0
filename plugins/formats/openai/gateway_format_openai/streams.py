"""A vendor's stream, read into events."""

from collections.abc import Sequence

from gateway_core import ReplyFailed, StreamEvent
from gateway_formats.relay import RUBBISH
from gateway_formats.sse import Frames, FrameTooLong, texts

from .answers import Answer
from .chunks import read_chunk
from .members import UNREADABLE

DONE = b"[DONE]"
LONGEST_MARK = 16

_SPACE = b" \t\r\n\xef\xbb\xbf"


def is_done(data: bytes) -> bool:
    """Whether a frame is the end marker."""
    return len(data) < LONGEST_MARK and data.strip() == DONE


class ChatReader:
    """Frames to events. A vendor that does not stream after all is read at the end."""

    __slots__ = ("_answer", "_begun", "_frames", "_over", "_whole")

    def __init__(self) -> None:
        self._answer = Answer()
        self._frames = Frames()
        self._begun = False
        self._over = False
        self._whole: list[bytes] | None = None

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._over:
            return ()
        if not self._begun:
            self._begin(chunk)
        if self._whole is not None:
            self._whole.append(chunk)
            return ()
        out: list[StreamEvent] = []
        try:
            said = texts(self._frames.feed(chunk))
        except FrameTooLong as error:
            self._fail(str(error), out)
            return out
        self._take(said, out)
        return out

    def close(self) -> Sequence[StreamEvent]:
        out: list[StreamEvent] = []
        if self._over:
            return out
        if self._whole is not None:
            self._take([b"".join(self._whole)], out)
            marked = True
        else:
            self._take(texts(self._frames.close()), out)
            marked = False
        if not self._over:
            self._over = True
            self._answer.close(out, marked=marked)
        return out

    def _begin(self, chunk: bytes) -> None:
        """A body that begins as JSON is no stream of frames."""
        text = chunk.lstrip(_SPACE)
        if text:
            self._begun = True
            if text[:1] == b"{":
                self._whole = []
                self._answer = Answer(is_whole=True)

    def _take(self, said: Sequence[bytes], out: list[StreamEvent]) -> None:
        answer = self._answer
        for data in said:
            if len(data) < LONGEST_MARK and is_done(data):
                self._over = True
                answer.close(out, marked=True)
                return
            try:
                chunk = read_chunk(data)
            except UNREADABLE:
                self._fail(RUBBISH, out)
                return
            answer.take(chunk, data, out)
            if answer.failed:
                self._over = True
                return

    def _fail(self, message: str, out: list[StreamEvent]) -> None:
        self._over = True
        self._answer.fail(ReplyFailed(message), out)
