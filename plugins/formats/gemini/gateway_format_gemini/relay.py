"""Watches answers that pass from a vendor of this format to its clients.

https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import Call, Relay, ReplyFailed, Target, UpstreamError, Usage
from gateway_formats.fold import as_error, as_failure
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.relay import CUT_SHORT, StreamRelay, WholeRelay
from gateway_formats.sse import parse_events, write_frame

from ._answers import ABSENT, UNSPECIFIED, choice_number, is_blocked, is_given, read_usage
from ._json_pieces import JsonPieces, split_objects
from ._open_reply import DONE
from .errors import read_error_object, write_error_frame


def start_relay(call: Call, target: Target, members: dict[str, Raw]) -> Relay:
    """Begin a pass-through."""
    if "model" in members:
        # Some clients repeat the path's model in the body, by the name they know it under.
        members["model"] = Raw(msgspec.json.encode(f"models/{target.model.id}"))
    return GeminiRelay() if call.stream else WholeRelay(watch_whole)


class WatchedArgument(Struct, rename="camel"):
    """One of the places at which arguments have grown."""

    string_value: str | None = None
    number_value: Raw = ABSENT
    bool_value: Raw = ABSENT

    def length(self) -> int:
        """In characters."""
        values = (self.number_value, self.bool_value)
        counted = sum(memoryview(each).nbytes for each in values if is_given(each))
        return len(self.string_value or "") + counted


class WatchedCall(Struct, rename="camel"):
    name: str | None = None
    args: Raw = ABSENT
    partial_args: list[WatchedArgument] | None = None

    def length(self) -> int:
        """Of the arguments that came with this part, in characters."""
        whole = memoryview(self.args).nbytes if is_given(self.args) else 0
        return whole + sum(piece.length() for piece in self.partial_args or ())


class WatchedPart(Struct, rename="camel"):
    text: str | None = None
    function_call: WatchedCall | None = None


class WatchedContent(Struct):
    parts: list[WatchedPart] | None = None


class WatchedCandidate(Struct, rename="camel"):
    content: WatchedContent | None = None
    finish_reason: str | int | None = None
    index: int | None = None


class WatchedAnswer(Struct, rename="camel"):
    candidates: list[WatchedCandidate] | None = None
    usage_metadata: Raw = ABSENT
    prompt_feedback: Raw = ABSENT
    error: Raw = ABSENT


_decode = msgspec.json.Decoder(WatchedAnswer).decode


class GeminiWatch:
    """Reads every frame. The end has come when no candidate goes on."""

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
            return as_failure(read_error_object(seen.error))
        usage = read_usage(seen.usage_metadata)
        if usage is not None:
            self.usage = usage
        for place, candidate in enumerate(seen.candidates or ()):
            parts = candidate.content.parts if candidate.content is not None else None
            for part in parts or ():
                if part.text is None:
                    self.started = True
                    if part.function_call is not None:
                        self.characters += part.function_call.length()
                elif part.text:
                    self.started = True
                    self.characters += len(part.text)
            number = choice_number(candidate.index, place)
            if candidate.finish_reason in UNSPECIFIED:
                self._unfinished.add(number)
            else:
                self._unfinished.discard(number)
                self.started = True
        # A frame that holds only counts neither ends an answer nor goes on with one.
        if seen.candidates:
            self.ended = not self._unfinished
        if is_blocked(seen.prompt_feedback):
            self.started = self.ended = True
        return True

    def error_frame(self, failure: ReplyFailed) -> bytes:
        return escape_line_separators(write_error_frame(failure))


class GeminiRelay(StreamRelay):
    """Passes frames on as they came, but for what this format's clients cannot read.

    Their line readers split at separators that JSON allows within strings, and they take every
    line that does not begin with ``data: `` for JSON.
    """

    def __init__(self) -> None:
        super().__init__(GeminiWatch())
        self._pieces: JsonPieces | None = None
        self._has_begun = False

    def feed(self, chunk: bytes) -> bytes:
        if not self._has_begun:
            start = chunk.lstrip(b"\xef\xbb\xbf \r\n\t")
            if not start:
                return b""
            self._has_begun = True
            # A vendor that does not know ``alt=sse`` sends its stream as one JSON list.
            if start[:1] in (b"{", b"["):
                self._pieces = JsonPieces()
        if self._pieces is None:
            return _make_readable(super().feed(chunk))
        try:
            pieces = self._pieces.feed(chunk)
        except ValueError as error:
            return self.fail(ReplyFailed(str(error)))
        # Between JSON tokens a line's end can only be white space (RFC 8259, section 2).
        flat = (piece.replace(b"\r", b" ").replace(b"\n", b" ") for piece in pieces)
        return _make_readable(super().feed(b"".join(map(write_frame, flat))))

    def close(self) -> bytes:
        if self._pieces is not None and self._pieces.unfinished:
            return self.fail(ReplyFailed(CUT_SHORT))
        return _make_readable(super().close())


def watch_whole(body: bytes) -> tuple[Usage | None, int]:
    """Usage and length of a whole answer. Raises UpstreamError for an error with status 200."""
    watch = GeminiWatch()
    try:
        payloads = split_objects(body)
    except ValueError as error:
        raise UpstreamError(str(error)) from None
    for payload in payloads:
        failure = watch.look(b"", payload)
        if isinstance(failure, ReplyFailed):
            raise as_error(failure)
    if not watch.started:
        raise UpstreamError("The upstream gave an answer without any candidate")
    return watch.usage, watch.characters


def _make_readable(passed: bytes) -> bytes:
    """Whole frames of nothing but ``data:`` lines, each a line for every reader."""
    if not passed:
        return passed
    starts = passed.count(b"\ndata: ") + passed.startswith(b"data: ")
    if passed.count(b"\n") != 2 * starts:
        frames = (write_frame(data.replace(b"\n", b" ")) for _, data in parse_events(passed))
        passed = b"".join(frames)
    return escape_line_separators(passed)
