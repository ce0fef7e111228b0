"""Writes an answer as this dialect's JSON.

https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

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
from .._grounding import write_grounding
from .._members import compact, read_text
from .choice import OpenChoice
from .parts import EMPTY_TEXT, encode, write_identity, write_usage

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
_KNOWN = frozenset({*_KEPT, "finishReason", "promptFeedback"})


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    answer = Answer(request, losses)
    # A whole answer is a stream that was written in one go.
    for event in unfold(reply):
        answer.add(event)
    return escape_line_separators(b"{%b}" % answer.write_end())


class Answer:
    """What is known of an answer and is not written yet."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self.choices: dict[int, OpenChoice] = {}
        self.usage: Usage | None = None
        self.identity = write_identity("", request.model)
        """The members that every piece of the answer repeats."""
        self._request = request
        self._losses = losses

    def add(self, event: StreamEvent) -> None:
        match event:
            case PartGrew():
                self.choices[event.choice].grow(event)
            case PartStarted():
                self._open(event.choice).start(event)
            case PartEnded():
                self.choices[event.choice].end_part(event.index)
            case PartSealed():
                self.choices[event.choice].seal(event)
            case CitationAdded():
                self.choices[event.choice].cite(event)
            case UsageReported(usage):
                self.usage = usage
            case ChoiceEnded():
                self._open(event.choice).end(event)
            case ReplyStarted():
                self._losses.add_extra(event.extra)
                self.identity = write_identity(event.id, event.model or self._request.model)
            case ReplyFailed():
                pass

    def write_end(self) -> bytes:
        """The members of the last piece: why every choice ended, and the usage."""
        members: list[bytes] = []
        pieces: list[bytes] = []
        for number, choice in sorted(self.choices.items()):
            ended = choice.ended or ChoiceEnded("stop", number)
            parts = choice.take_parts(calls=True) or EMPTY_TEXT
            raw = ended.extra.get("finishReason")
            reason = read_text(raw) if raw is not None else None
            # The vendor's own reason stays where it still means the same.
            if not reason or read_finish(reason, choice.has_calls) != ended.finish:
                reason = write_finish(ended.finish)
            self._losses.add_extra({n: v for n, v in ended.extra.items() if n not in _KNOWN})
            kept = {name: compact(ended.extra[name]) for name in _KEPT if name in ended.extra}
            texts, citations = choice.sources
            if citations and texts and not {"groundingMetadata", "citationMetadata"} & kept.keys():
                kept["groundingMetadata"] = write_grounding(texts, citations)
            rest = {**choice.take_logprobs(), **kept}
            candidate = b'{"content":{"parts":[%b],"role":"model"},"finishReason":%b,"index":%d%b}'
            written = b"".join(b',"%b":%b' % (name.encode(), each) for name, each in rest.items())
            pieces.append(candidate % (parts, encode(reason), number, written))
        first = self.choices.get(0)
        extra = first.ended.extra if first is not None and first.ended is not None else {}
        feedback = extra.get("promptFeedback")
        # Of a refused prompt the vendor says nothing else.
        is_refused = first is not None and not first.began and len(self.choices) == 1
        if feedback is None or not is_refused:
            members.append(b'"candidates":[%b]' % b",".join(pieces))
        if feedback is not None:
            members.append(b'"promptFeedback":' + compact(feedback))
        if self.usage is not None:
            members.append(b'"usageMetadata":' + write_usage(self.usage))
        return b",".join([*members, self.identity])

    def _open(self, number: int) -> OpenChoice:
        choice = self.choices.get(number)
        if choice is None:
            thinking = self._request.thinking
            # Thinking is shown unless the client turns it off; includeThoughts asks for it.
            is_hidden = thinking is not None and thinking.show is False
            choice = self.choices[number] = OpenChoice(self._losses, not is_hidden)
        return choice
