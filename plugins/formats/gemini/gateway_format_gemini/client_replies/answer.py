"""The hub's answer as this dialect's JSON: whole, and in frames.

Frames are ``data:`` lines that end with CRLF pairs, without an end mark and
without comments, as the vendor's own client libraries expect them.
"""

from collections.abc import Sequence

from gateway_core import (
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Usage,
    UsageReported,
)
from gateway_formats.fold import unfold
from gateway_formats.ndjson import escape_line_separators

from .._finish_reasons import read_finish, write_finish
from .._grounding import grounding_json
from .._members import compact, text_of
from ..errors import failure_json
from .choice import Choice
from .parts import EMPTY_TEXT, encode, identity_json, usage_json

_KEPT = (
    "finishMessage",
    "safetyRatings",
    "groundingMetadata",
    "citationMetadata",
    "urlContextMetadata",
    "avgLogprobs",
    "tokenCount",
)
"""Members of a candidate that only this dialect has."""
_FRAME = b'data: {"candidates":[{"content":{"parts":[%b],"role":"model"},"index":%d%b}],%b}\r\n\r\n'
_KNOWN = frozenset({*_KEPT, "finishReason", "promptFeedback"})


class Answer:
    """What has been told of an answer and is not written yet."""

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self.choices: dict[int, Choice] = {}
        self.usage: Usage | None = None
        self.identity = identity_json("", asked.model)
        self._asked = asked
        self._losses = losses

    def take(self, event: StreamEvent) -> None:
        match event:
            case PartGrew():
                self.choices[event.choice].grow(event)
            case PartStarted():
                self._choice(event.choice).start(event)
            case PartEnded():
                self.choices[event.choice].finish_part(event.index)
            case PartSealed():
                self.choices[event.choice].seal(event)
            case CitationAdded():
                self.choices[event.choice].cite(event)
            case UsageReported(usage):
                self.usage = usage
            case ChoiceEnded():
                self._choice(event.choice).finish(event)
            case ReplyStarted():
                self._losses.add_extra(event.extra)
                self.identity = identity_json(event.id, event.model or self._asked.model)
            case ReplyFailed():
                pass

    def ending(self) -> bytes:
        """The members of the last piece: why every choice ended, and the usage."""
        pieces = [self._ended(index, choice) for index, choice in sorted(self.choices.items())]
        members = [] if self._refused() else [b'"candidates":[%b]' % b",".join(pieces)]
        members += self._feedback()
        if self.usage is not None:
            members.append(b'"usageMetadata":' + usage_json(self.usage))
        return b",".join([*members, self.identity])

    def _choice(self, index: int) -> Choice:
        choice = self.choices.get(index)
        if choice is None:
            thinking = self._asked.thinking
            hidden = thinking is not None and thinking.show is False
            choice = self.choices[index] = Choice(self._losses, not hidden)
        return choice

    def _ended(self, index: int, choice: Choice) -> bytes:
        ended = choice.ended or ChoiceEnded("stop", index)
        parts = choice.drain(calls=True) or EMPTY_TEXT
        reason = _reason(ended, choice.called)
        self._losses.add_extra({n: v for n, v in ended.extra.items() if n not in _KNOWN})
        body = b'{"content":{"parts":[%b],"role":"model"},"finishReason":%b,"index":%d%b}'
        told = {**choice.logprobs_json(), **_extra(ended, choice)}
        rest = b"".join(b',"%b":%b' % (name.encode(), each) for name, each in told.items())
        return body % (parts, encode(reason), index, rest)

    def _refused(self) -> bool:
        """Whether there is nothing to tell but that the prompt was refused."""
        first = self.choices.get(0)
        if first is None or first.began or first.ended is None or len(self.choices) > 1:
            return False
        return "promptFeedback" in first.ended.extra

    def _feedback(self) -> list[bytes]:
        first = self.choices.get(0)
        extra = first.ended.extra if first is not None and first.ended is not None else {}
        found = extra.get("promptFeedback")
        return [b'"promptFeedback":' + compact(found)] if found is not None else []


class GeminiStreamWriter:
    """Events to frames: one frame for all that one network read brought."""

    def __init__(self, asked: Conversation, losses: Losses) -> None:
        self._answer = Answer(asked, losses)
        self._failed = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        if self._failed:
            return b""
        answer = self._answer
        for event in events:
            if isinstance(event, ReplyFailed):
                self._failed = True
                return escape_line_separators(self._frames() + error_frame(event))
            answer.take(event)
        return escape_line_separators(self._frames())

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._answer.choices:
            self._answer.take(ChoiceEnded("stop"))
        return escape_line_separators(b"data: {%b}\r\n\r\n" % self._answer.ending())

    def _frames(self) -> bytes:
        return b"".join(
            [
                _FRAME % (parts, index, choice.frame_logprobs(), self._answer.identity)
                for index, choice in self._answer.choices.items()
                if (parts := choice.drain())
            ]
        )


def error_frame(failure: ReplyFailed) -> bytes:
    return b"data: %b\r\n\r\n" % failure_json(failure)


def write_whole(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    answer = Answer(asked, losses)
    for event in unfold(reply):
        answer.take(event)
    return escape_line_separators(b"{%b}" % answer.ending())


def _reason(ended: ChoiceEnded, called: bool) -> str:
    """The vendor's own word, where it still says what the hub says."""
    raw = ended.extra.get("finishReason")
    said = text_of(raw) if raw is not None else None
    if said and read_finish(said, called) == ended.finish:
        return said
    return write_finish(ended.finish)


def _extra(ended: ChoiceEnded, choice: Choice) -> dict[str, bytes]:
    kept = {name: compact(ended.extra[name]) for name in _KEPT if name in ended.extra}
    texts, citations = choice.sources
    if citations and texts and not {"groundingMetadata", "citationMetadata"} & kept.keys():
        kept["groundingMetadata"] = grounding_json(texts, citations)
    return kept
