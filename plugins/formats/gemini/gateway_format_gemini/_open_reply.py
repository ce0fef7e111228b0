"""A vendor's answer while its pieces come."""

from hashlib import blake2s

import msgspec
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Usage,
    UsageReported,
)
from gateway_formats.fold import as_failure
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT

from ._answers import (
    choice_number,
    decode_answer,
    is_blocked,
    is_given,
    read_time,
    read_usage,
)
from ._growing_pieces import read_piece
from ._members import compact
from ._open_candidate import OpenCandidate
from .errors import read_error_object

DONE = b"[DONE]"
"""An end mark of another dialect, which some proxies put under every stream."""
_EMPTY = "The upstream gave an answer without any candidate"


class OpenReply:
    """An answer whose pieces come one by one. After a failure nothing follows."""

    def __init__(self) -> None:
        self.failed = False
        self._started = False
        self._seed = ""
        self._usage: Usage | None = None
        self._candidates: dict[int, OpenCandidate] = {}
        self._feedback: Raw | None = None

    def read(self, payload: bytes) -> list[StreamEvent]:
        """The events of one piece of JSON."""
        if self.failed or payload == DONE:
            return []
        # Most pieces only continue the open text, and perhaps count tokens.
        candidate = self._candidates.get(0)
        if (
            candidate is not None
            and candidate.is_growing
            and (piece := read_piece(payload)) is not None
            and (event := candidate.grow(piece.part.text, piece.part.thought is True)) is not None
        ):
            events: list[StreamEvent] = [event]
            if piece.usage_metadata is not None:
                self._report_usage(piece.usage_metadata.usage(), events)
            return events
        return self._read(payload)

    def fail(self, message: str) -> list[StreamEvent]:
        if self.failed:
            return []
        self.failed = True
        return [ReplyFailed(message)]

    def end(self, *, whole: bool = False) -> list[StreamEvent]:
        """The end of the answer. Only a whole one may leave out why it ended."""
        if self.failed:
            return []
        candidates = self._candidates.values()
        if not candidates and self._feedback is not None:
            return [ChoiceEnded("content_filter", extra={"promptFeedback": self._feedback})]
        is_refused = self._feedback is not None
        # A stream has no end mark: it is whole when every candidate has its reason.
        has_reasons = all(each.reason is not None for each in candidates)
        if not candidates or not (has_reasons or whole or is_refused):
            return self.fail(CUT_SHORT if self._started and not whole else _EMPTY)
        events: list[StreamEvent] = []
        ends: list[StreamEvent] = []
        for candidate in candidates:
            *parts, ended = candidate.end("SAFETY" if is_refused else "STOP")
            events += parts
            ends.append(ended)
        return events + ends

    def _read(self, payload: bytes) -> list[StreamEvent]:
        try:
            answer = decode_answer(payload)
            if is_given(answer.error):
                failure = as_failure(read_error_object(answer.error))
                self.failed = True
                return [failure]
            events: list[StreamEvent] = []
            if not self._started:
                self._started = True
                # An answer without an id gets one that is the same whenever it is read again.
                seed = answer.response_id.encode() if answer.response_id else payload
                self._seed = blake2s(seed, digest_size=8).hexdigest()
                created = read_time(answer.create_time)
                reply_id = answer.response_id or self._seed
                events.append(ReplyStarted(reply_id, answer.model_version or "", created))
            if is_blocked(answer.prompt_feedback):
                self._feedback = Raw(compact(answer.prompt_feedback))
            for place, piece in enumerate(answer.candidates or ()):
                number = choice_number(piece.index, place)
                if number not in self._candidates:
                    self._candidates[number] = OpenCandidate(number, f"call_{self._seed}")
                events += self._candidates[number].read(piece)
            self._report_usage(read_usage(answer.usage_metadata), events)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self.fail(UNREADABLE_EVENT)
        return events

    def _report_usage(self, usage: Usage | None, events: list[StreamEvent]) -> None:
        """Report the counts if they are new: the vendor repeats them in every piece."""
        if usage is not None and usage != self._usage:
            self._usage = usage
            events.append(UsageReported(usage))
