"""The bytes of a stream's frames. What stays the same through a stream is encoded once."""

from typing import Any

from gateway_core import ReplyFailed, ReplyStarted, Usage
from gateway_formats.sse import write_frame

from ._members import encode
from ._shared import shared_members
from ._usage import write_usage
from .errors import failure_members

DONE_FRAME = b"data: [DONE]\n\n"

_OPEN = b'"logprobs":null,"finish_reason":null}]'


class ChunkFrames:
    """Builds chunks of one reply: a fixed head, what is new, and a fixed tail."""

    __slots__ = ("_head", "_shared", "_usage", "tail")

    def __init__(self, started: ReplyStarted, reply: str, model: str, kind: str, usage: bool):
        head = {"id": reply, "object": kind, "created": started.created or 0, "model": model}
        self._head = encode({**head, **shared_members(started.extra)})[:-1]
        # With include_usage every other chunk has the member too, as null:
        # https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
        self._usage = b',"usage":null}\n\n' if usage else b"}\n\n"
        self.tail = _OPEN + self._usage

    def head(self, choice: int, member: bytes) -> bytes:
        """Everything before the new value of ``member`` in a choice."""
        return b'data: %b,"choices":[{"index":%d,%b' % (self._head, choice, member)

    def finish(self, choice: int, member: bytes, word: str) -> bytes:
        """The chunk that says why a choice ended."""
        members = b'%b,"logprobs":null,"finish_reason":%b}]' % (member, encode(word))
        return self.head(choice, members) + self._usage

    def with_tokens(self, logprobs: bytes) -> bytes:
        """A tail that carries log probabilities."""
        return b'"logprobs":%b,"finish_reason":null}]' % logprobs + self._usage

    def usage(self, usage: Usage) -> bytes:
        counts = encode(write_usage(usage))
        return b'data: %b,"choices":[],"usage":%b}\n\n' % (self._head, counts)


def failure_frame(failure: ReplyFailed) -> bytes:
    """The frame that ends a broken stream. No end marker follows it."""
    members: dict[str, Any] = failure_members(
        failure.message, failure.status, failure.kind, failure.code
    )
    return write_frame(encode({"error": members}))
