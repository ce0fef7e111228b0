"""Reads a vendor's whole answer.

https://docs.anthropic.com/en/api/messages
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import AnyPart, Choice, Reply, ToolCall, UpstreamError
from gateway_formats.fold import default_finish

from ._dialect import DIALECT, NULL, Extra, Unreadable, decode_members, drop_nulls
from ._stop_reasons import NOTHING, read_stop_reason
from ._usage import Counts, read_usage
from ._vendor_blocks import LATE, Block, read_block, read_late_members, read_refusal, read_words
from .errors import UNREADABLE, find_error

_READ = (
    "id",
    "type",
    "role",
    "model",
    "content",
    "stop_reason",
    "stop_sequence",
    "usage",
    *LATE,
)


# JSON holds no cycles, so the garbage collector need not follow these.
class Message(Struct, gc=False):
    """A whole answer, as far as the hub knows it."""

    content: list[Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Counts | None = None


class KnownMessage(Message, forbid_unknown_fields=True, gc=False):
    """A message of which every member is known, and no late one is there."""

    type: Raw = NULL
    role: Raw = NULL
    container: None = None
    context_management: None = None
    input_transformations: None = None
    stop_details: None = None


class Content(Struct):
    """The content of a message as it came."""

    content: list[Raw]


_decode_known = msgspec.json.Decoder(KnownMessage).decode
_decode_message = msgspec.json.Decoder(Message).decode
_decode_content = msgspec.json.Decoder(Content).decode


def read_reply(body: bytes) -> Reply:
    """Raises UpstreamError for an invalid body, and for an error that came with status 200."""
    late: Extra = NOTHING
    rest: Extra = NOTHING
    try:
        message: Message
        # Decoding the usual answer once saves a tenth of the instructions of a translated answer
        # (benchmarks/short-cuts-claude-gemini.md).
        try:
            message = _decode_known(body)
        except msgspec.ValidationError:
            message, members = _decode_message(body), decode_members(body)
            late = read_late_members(members)
            rest = drop_nulls({name: raw for name, raw in members.items() if name not in _READ})
        parts = _read_parts(message, body)
        if message.stop_reason is None:
            finish, more = default_finish(parts), NOTHING
        else:
            has_calls = ToolCall in map(type, parts)
            finish, more = read_stop_reason(message.stop_reason, has_calls=has_calls)
        refusal = read_refusal(late)
        choice = Choice(
            parts=parts if refusal is None else (*parts, refusal),
            finish=finish,
            stop_sequence=message.stop_sequence,
            extra={**late, **more},
        )
        return Reply(
            id=message.id or "",
            model=message.model or "",
            choices=(choice,),
            usage=None if message.usage is None else read_usage(message.usage),
            dialect=DIALECT,
            extra=rest,
        )
    except Unreadable:
        raise find_error(body) or UpstreamError(UNREADABLE) from None


def _read_parts(message: Message, body: bytes) -> tuple[AnyPart, ...]:
    """The parts of the blocks; where one is more than words, all are read as they came."""
    parts: list[AnyPart] = []
    for block in message.content:
        part = read_words(block)
        if part is None:
            return tuple(read_block(raw)[1] for raw in _decode_content(body).content)
        parts.append(part)
    return tuple(parts)
