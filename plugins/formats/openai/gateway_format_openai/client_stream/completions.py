"""Events, written as the chunks of a text completion."""

from collections.abc import Sequence

from gateway_core import (
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Losses,
    PartGrew,
    PartStarted,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Usage,
    UsageReported,
)
from gateway_formats.ndjson import escape_line_separators
from gateway_formats.relay import CUT_SHORT

from .._frames import DONE_FRAME, ChunkFrames, failure_frame
from .._members import encode
from ..client_replies import KIND, completion_id, finish_word, note_lost, older_logprobs


class CompletionWriter:
    """Each piece of text as a chunk of its own; whatever else an answer holds has no place."""

    _frames: ChunkFrames

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._request = request
        self._losses = losses
        self._usage: Usage | None = None
        self._failed = False
        self._begun = False
        self._shown: set[tuple[int, int]] = set()
        self._lengths: dict[int, int] = {}

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        out: list[bytes] = []
        for event in events:
            match event:
                case PartGrew():
                    out.append(self._grow(event))
                case PartStarted(part=part):
                    note_lost(part, self._losses)
                    if isinstance(part, Text | Refusal):
                        self._shown.add((event.choice, event.index))
                        if part.text:
                            first = PartGrew(event.index, part.text, event.choice)
                            out.append(self._grow(first))
                case ReplyStarted():
                    self._begun = True
                    reply_id, model = completion_id(event.id), event.model or self._request.model
                    wants_usage = self._request.stream_usage
                    self._frames = ChunkFrames(event, reply_id, model, KIND, wants_usage)
                case UsageReported(usage):
                    self._usage = usage
                case ChoiceEnded():
                    end = self._frames.finish(event.choice, b'"text":""', finish_word(event))
                    out.append(end)
                case CitationAdded():
                    self._losses.add("citations")
                case ReplyFailed():
                    self._failed = True
                    out.append(failure_frame(event))
                case _:
                    pass
        return escape_line_separators(b"".join(out))

    def close(self) -> bytes:
        if self._failed:
            return b""
        if not self._begun:
            return failure_frame(ReplyFailed(CUT_SHORT))
        usage = b""
        if self._usage is not None and self._request.stream_usage:
            usage = self._frames.usage(self._usage)
        return usage + DONE_FRAME

    def _grow(self, event: PartGrew) -> bytes:
        if (event.choice, event.index) not in self._shown:
            return b""
        frames, start = self._frames, self._lengths.get(event.choice, 0)
        self._lengths[event.choice] = start + len(event.text)
        head = frames.head(event.choice, b'"text":%b,' % encode(event.text))
        if event.logprobs is None:
            return head + frames.tail
        return head + frames.with_tokens(encode(older_logprobs(event.logprobs, start)))
