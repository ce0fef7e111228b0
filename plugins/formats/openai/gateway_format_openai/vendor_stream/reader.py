"""A vendor's stream, read into events."""

from collections.abc import Sequence

from gateway_core import PartGrew, ReplyFailed, StreamEvent
from gateway_formats.frame_scanner import FrameScanner
from gateway_formats.relay import UNREADABLE_EVENT
from gateway_formats.sse import FrameBuffer, FrameTooLong

from .._chunks import has_only_text, read_chunk
from .._members import UNREADABLE
from .answer import VendorAnswer

# https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream
DONE = b"[DONE]"

LONGEST_MARK = 16

# A stream may begin with a byte order mark: WHATWG HTML, section 9.2.5.
_SPACE = b" \t\r\n\xef\xbb\xbf"


def is_done(data: bytes) -> bool:
    """Whether a frame is the end marker."""
    return len(data) < LONGEST_MARK and data.strip() == DONE


class ChatReader:
    """Frames to events. A vendor that does not stream after all is read at the end."""

    __slots__ = ("_answer", "_begun", "_frames", "_grown", "_over", "_scanner", "_whole")

    def __init__(self) -> None:
        self._answer = VendorAnswer()
        self._frames = FrameBuffer()
        self._scanner = FrameScanner()
        self._grown = PartGrew(0, "")
        """The last event of a text; a frame that is like its frame adds to the same part."""
        self._begun = False
        self._over = False
        self._whole: list[bytes] | None = None

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._over:
            return ()
        if not self._frames.held and (text := self._scanner.text(chunk)):
            return (PartGrew(self._grown.index, text, self._grown.choice),)
        if not self._begun and (beginning := chunk.lstrip(_SPACE)):
            # A body that begins as JSON is no stream of frames.
            self._begun = True
            if beginning.startswith(b"{"):
                self._whole = []
                self._answer = VendorAnswer(is_whole=True)
        if self._whole is not None:
            self._whole.append(chunk)
            return ()
        out: list[StreamEvent] = []
        try:
            self._read(self._frames.feed(chunk), out)
        except FrameTooLong as error:
            self._fail(str(error), out)
        return out

    def close(self) -> Sequence[StreamEvent]:
        out: list[StreamEvent] = []
        if self._over:
            return out
        if self._whole is not None:
            self._look(b"".join(self._whole), out)
            marked = True
        else:
            self._read(self._frames.close() + b"\n\n", out)
            marked = False
        if not self._over:
            self._over = True
            self._answer.close(out, marked=marked)
        return out

    def _read(self, whole: bytes, out: list[StreamEvent]) -> None:
        def look(name: bytes, data: bytes) -> str | None:
            return self._look(data, out)

        def tell(texts: list[str]) -> None:
            grown = self._grown
            out.extend([PartGrew(grown.index, text, grown.choice) for text in texts])

        self._scanner.through(whole, look, tell)

    def _look(self, data: bytes, out: list[StreamEvent]) -> str | None:
        """Read one frame, as a FrameScanner wants it."""
        answer = self._answer
        if len(data) < LONGEST_MARK and is_done(data):
            self._over = True
            answer.close(out, marked=True)
            return None
        try:
            chunk = read_chunk(data)
        except UNREADABLE:
            self._fail(UNREADABLE_EVENT, out)
            return None
        before = len(out)
        answer.take(chunk, data, out)
        if answer.failed:
            self._over = True
            return None
        event = out[-1] if len(out) == before + 1 else None
        if type(event) is not PartGrew or event.logprobs is not None or not has_only_text(chunk):
            return ""
        self._grown = event
        return event.text

    def _fail(self, message: str, out: list[StreamEvent]) -> None:
        self._over = True
        self._answer.fail(ReplyFailed(message), out)
