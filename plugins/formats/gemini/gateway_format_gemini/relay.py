"""Watching answers that pass from a vendor of this format to its clients."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import ReplyFailed, UpstreamError, Usage
from gateway_formats.fold import as_error, as_failure
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.relay import CUT_SHORT, StreamRelay
from gateway_formats.sse import parse_events, write_frame

from ._answers import ABSENT, UNSPECIFIED, blocked, choice_of, is_given, usage_of
from ._json_pieces import JsonPieces, objects_of
from .client_replies.answer import error_frame
from .errors import told_error
from .vendor_replies.reply import DONE


class _Piece(Struct, rename="camel"):
    """One of the places at which arguments have grown."""

    string_value: str | None = None
    number_value: Raw = ABSENT
    bool_value: Raw = ABSENT

    def length(self) -> int:
        """In characters."""
        given = (self.number_value, self.bool_value)
        counted = sum(memoryview(each).nbytes for each in given if is_given(each))
        return len(self.string_value or "") + counted


class _Call(Struct, rename="camel"):
    name: str | None = None
    args: Raw = ABSENT
    partial_args: list[_Piece] | None = None

    def length(self) -> int:
        """Of the arguments that came with this part, in characters."""
        whole = memoryview(self.args).nbytes if is_given(self.args) else 0
        return whole + sum(piece.length() for piece in self.partial_args or ())


class _Part(Struct, rename="camel"):
    text: str | None = None
    function_call: _Call | None = None


class _Content(Struct):
    parts: list[_Part] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | int | None = None
    index: int | None = None


class _Seen(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: Raw = ABSENT
    prompt_feedback: Raw = ABSENT
    error: Raw = ABSENT


_decode = msgspec.json.Decoder(_Seen).decode


class GeminiWatch:
    """Notes what every frame says. The end has come when no candidate goes on."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.started = False
        self.ended = False
        self.characters = 0
        self._unfinished: set[int] = set()

    def look(self, event: bytes, data: bytes) -> ReplyFailed | bool:
        if data == DONE:
            return False  # clients of this format would try to read it
        seen = _decode(data)
        if is_given(seen.error):
            return as_failure(told_error(seen.error))
        usage = usage_of(seen.usage_metadata)
        if usage is not None:
            self.usage = usage
        for place, candidate in enumerate(seen.candidates or ()):
            self._candidate(candidate, place)
        if seen.candidates:
            self.ended = not self._unfinished
        if blocked(seen.prompt_feedback):
            self.started = self.ended = True
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return escape_line_separators(error_frame(failure))

    def _candidate(self, candidate: _Candidate, place: int) -> None:
        content = candidate.content
        for part in (content.parts or ()) if content is not None else ():
            self._part(part)
        index = choice_of(candidate.index, place)
        if candidate.finish_reason in UNSPECIFIED:
            self._unfinished.add(index)
        else:
            self._unfinished.discard(index)
            self.started = True

    def _part(self, part: _Part) -> None:
        if part.text is None:
            self.started = True
            if part.function_call is not None:
                self.characters += part.function_call.length()
        elif part.text:
            self.started = True
            self.characters += len(part.text)


class GeminiRelay(StreamRelay):
    """Passes frames on as they came, but for what this format's clients stumble over.

    Their line readers split at separators that JSON allows within strings,
    and they take every line that does not begin with ``data: `` for JSON.
    """

    def __init__(self) -> None:
        super().__init__(GeminiWatch())
        self._pieces: JsonPieces | None = None
        self._has_begun = False

    def feed(self, chunk: bytes) -> bytes:
        if not self._has_begun and not self._begins(chunk):
            return b""
        if self._pieces is None:
            return _readable(super().feed(chunk))
        try:
            framed = b"".join(map(_framed, self._pieces.feed(chunk)))
        except ValueError as error:
            return self.fail(ReplyFailed(str(error)))
        return _readable(super().feed(framed))

    def close(self) -> bytes:
        if self._pieces is not None and self._pieces.unfinished:
            return self.fail(ReplyFailed(CUT_SHORT))
        return _readable(super().close())

    def _begins(self, chunk: bytes) -> bool:
        """Whether there is anything to see yet.

        A vendor that does not know ``alt=sse`` sends its stream as one JSON list.
        """
        start = chunk.lstrip(b"\xef\xbb\xbf \r\n\t")
        if start[:1] in (b"{", b"["):
            self._pieces = JsonPieces()
        self._has_begun = bool(start)
        return self._has_begun


def _framed(piece: bytes) -> bytes:
    """A JSON object as one frame; a line's end in it can only be white space."""
    return write_frame(piece.replace(b"\r", b" ").replace(b"\n", b" "))


def look_at_whole(body: bytes) -> tuple[Usage | None, int]:
    """Usage and length of a whole answer. Raises UpstreamError for an error in disguise."""
    watch = GeminiWatch()
    try:
        payloads = objects_of(body)
    except ValueError as error:
        raise UpstreamError(str(error)) from None
    for payload in payloads:
        failure = watch.look(b"", payload)
        if isinstance(failure, ReplyFailed):
            raise as_error(failure)
    if not watch.started:
        raise UpstreamError("The upstream gave an answer without any candidate")
    return watch.usage, watch.characters


def _readable(passed: bytes) -> bytes:
    """Whole frames of nothing but ``data:`` lines, each a line for every reader."""
    if not passed:
        return passed
    starts = passed.count(b"\ndata: ") + passed.startswith(b"data: ")
    if passed.count(b"\n") != 2 * starts:
        frames = (write_frame(data.replace(b"\n", b" ")) for _, data in parse_events(passed))
        passed = b"".join(frames)
    return escape_line_separators(passed)
