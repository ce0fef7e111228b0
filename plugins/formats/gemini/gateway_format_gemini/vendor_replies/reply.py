"""The vendor's answer as events, piece by piece, and whole."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    UpstreamError,
    Usage,
    UsageReported,
)
from gateway_formats.fold import as_failure, gather
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT

from .._answers import (
    Answer,
    blocked,
    choice_of,
    is_given,
    read_answer,
    unix_seconds,
    usage_of,
)
from .._json_pieces import objects_of
from .._members import compact
from .._signatures import DIALECT
from ..client_requests.call_ids import digest
from ..errors import told_error
from .candidate import OpenCandidate
from .plain_pieces import read_piece
from .plain_replies import read_plain

DONE = b"[DONE]"
"""An end mark of another dialect, which some proxies put under every stream."""
_EMPTY = "The upstream gave an answer without any candidate"
_UNREADABLE = "The upstream gave an answer that could not be read"


class OpenReply:
    """An answer whose pieces come one by one. After a failure nothing follows."""

    def __init__(self) -> None:
        self.failed = False
        self._started = False
        self._seed = ""
        self._usage: Usage | None = None
        self._candidates: dict[int, OpenCandidate] = {}
        self._feedback: Raw | None = None

    def take(self, payload: bytes) -> list[StreamEvent]:
        """The events of one piece of JSON."""
        if self.failed or payload == DONE:
            return []
        return self.take_more(payload) or self._take_any(payload)

    def take_more(self, payload: bytes) -> list[StreamEvent]:
        """The events of a piece that says no more than how the open text goes on, as most do, and
        perhaps what has been counted. None for any other piece, nor after a failure."""
        candidate = self._candidates.get(0)
        if candidate is None or not candidate.is_growing or self.failed:
            return []
        piece = read_piece(payload)
        if piece is None:
            return []
        grown = piece.grown()
        event = candidate.grow(grown.text, grown.thought is True)
        if event is None:
            return []
        events: list[StreamEvent] = [event]
        if piece.usage_metadata is not None:
            self._count(piece.usage_metadata.usage(), events)
        return events

    def grow(self, text: str) -> list[StreamEvent]:
        """The same of a piece that is like the last one but for its text."""
        event = self._candidates[0].grow(text)
        return [] if event is None else [event]

    def _take_any(self, payload: bytes) -> list[StreamEvent]:
        try:
            answer = read_answer(payload)
            if is_given(answer.error):
                return [self._fail(as_failure(told_error(answer.error)))]
            return self._events(answer, payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return [self._fail(ReplyFailed(UNREADABLE_EVENT))]

    def fail(self, message: str) -> list[StreamEvent]:
        return [] if self.failed else [self._fail(ReplyFailed(message))]

    def end(self, *, whole: bool = False) -> list[StreamEvent]:
        """The end of the answer. Only a whole one may leave out why it ended."""
        if self.failed:
            return []
        candidates = self._candidates.values()
        if not candidates and self._feedback is not None:
            ended = ChoiceEnded("content_filter", extra={"promptFeedback": self._feedback})
            return [ended]
        refused = self._feedback is not None
        finished = all(each.finish is not None for each in candidates)
        if not candidates or not (finished or whole or refused):
            return self.fail(CUT_SHORT if self._started and not whole else _EMPTY)
        events: list[StreamEvent] = []
        ends: list[StreamEvent] = []
        for candidate in candidates:
            *parts, ended_choice = candidate.end("SAFETY" if refused else "STOP")
            events += parts
            ends.append(ended_choice)
        return events + ends

    def _events(self, answer: Answer, payload: bytes) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if not self._started:
            events.append(self._start(answer, payload))
        if blocked(answer.prompt_feedback):
            self._feedback = Raw(compact(answer.prompt_feedback))
        for place, piece in enumerate(answer.candidates or ()):
            choice = choice_of(piece.index, place)
            candidate = self._candidates.get(choice)
            if candidate is None:
                candidate = self._candidates[choice] = OpenCandidate(choice, f"call_{self._seed}")
            events += candidate.take(piece)
        self._count(usage_of(answer.usage_metadata), events)
        return events

    def _count(self, usage: Usage | None, events: list[StreamEvent]) -> None:
        """Report what is counted by now, if it is not what was counted before."""
        if usage is not None and usage != self._usage:
            self._usage = usage
            events.append(UsageReported(usage))

    def _start(self, answer: Answer, payload: bytes) -> ReplyStarted:
        self._started = True
        self._seed = digest(answer.response_id.encode() if answer.response_id else payload)
        return ReplyStarted(
            answer.response_id or self._seed,
            answer.model_version or "",
            unix_seconds(answer.create_time),
        )

    def _fail(self, failure: ReplyFailed) -> ReplyFailed:
        self.failed = True
        return failure


def read_whole(body: bytes) -> Reply:
    """Raises UpstreamError for rubbish, and for an error that came with status 200."""
    return read_plain(body) or _read_any(body)


def _read_any(body: bytes) -> Reply:
    reply = OpenReply()
    events: list[StreamEvent] = []
    try:
        payloads = objects_of(body)
    except ValueError:
        raise UpstreamError(_UNREADABLE) from None
    for payload in payloads:
        events += reply.take(payload)
    try:
        return replace(gather([*events, *reply.end(whole=True)]), dialect=DIALECT)
    except UpstreamError as error:
        raise UpstreamError(
            _UNREADABLE if error.message == UNREADABLE_EVENT else error.message,
            status=error.status,
            kind=error.kind,
            code=error.code,
            retry_after=error.retry_after,
        ) from None
