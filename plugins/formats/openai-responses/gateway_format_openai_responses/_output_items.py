"""A vendor's output items to parts: one reading for whole answers and for streams.

Reading is lenient: members that are missing, null or new do no harm. An item
that is not a message, thinking or a call is kept whole as a foreign part.
"""

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import AnyPart, Foreign, Media, Reasoning, Refusal, Text, ToolCall

from ._annotations import read_citation
from ._dialect import DIALECT, NULL
from ._reasoning import GAP, as_parts


class Content(Struct):
    """A piece of a message or of thinking."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    annotations: list[Raw] | None = None
    logprobs: Raw = NULL


class _Head(Struct):
    type: str = ""
    id: str | None = None
    phase: Raw = NULL


class _Message(Struct):
    content: list[Content] | None = None
    phase: Raw = NULL


class _Reasoning(Struct):
    id: str | None = None
    summary: list[Content] | None = None
    content: list[Content] | None = None
    encrypted_content: str | None = None


class _Call(Struct):
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    namespace: Raw = NULL
    caller: Raw = NULL


class _Image(Struct):
    result: str | None = None
    output_format: str | None = None


_head = msgspec.json.Decoder(_Head)
_message = msgspec.json.Decoder(_Message)
_reasoning = msgspec.json.Decoder(_Reasoning)
_call = msgspec.json.Decoder(_Call)
_image = msgspec.json.Decoder(_Image)
_members = msgspec.json.Decoder(dict[str, Raw])


def kind_of(raw: Raw) -> str:
    """Raises MsgspecError for what is not an item."""
    return _head.decode(raw).type


def id_of(raw: Raw) -> str | None:
    return _head.decode(raw).id


def with_phase(part: Text | Refusal, raw: Raw) -> Text | Refusal:
    """The first piece of a message, with the members of the message itself."""
    phase = _head.decode(raw).phase
    return part if phase == NULL else replace(part, extra={"phase": phase.copy()})


def read_item(raw: Raw) -> list[AnyPart]:
    """All that an item holds. Raises MsgspecError for rubbish."""
    kind = kind_of(raw)
    if kind == "message":
        return read_message(raw)
    if kind == "reasoning":
        return list(read_thinking(raw))
    # The item types: https://platform.openai.com/docs/api-reference/responses/object#responses-object-output
    if kind in ("function_call", "custom_tool_call"):
        return [read_call(raw, custom=kind == "custom_tool_call")]
    # An image item without its data is only a note of the vendor's.
    if kind == "image_generation_call" and (image := _image.decode(raw)).result:
        members = _members.decode(raw)
        known = ("type", "result")
        extra = {n: m.copy() for n, m in members.items() if n not in known and m != NULL}
        # png is the default output_format of the image_generation tool.
        media_type = f"image/{image.output_format or 'png'}"
        return [Media(kind="image", data=image.result, media_type=media_type, extra=extra)]
    return [Foreign(dialect=DIALECT, type=kind, raw=raw.copy())]


def read_message(raw: Raw) -> list[AnyPart]:
    item = _message.decode(raw)
    extra = {} if item.phase == NULL else {"phase": item.phase.copy()}
    parts: list[AnyPart] = []
    for content in item.content or ():
        parts.append(read_content(content, extra))
        extra = {}  # The first piece carries the message's members.
    return parts


def read_content(content: Content, extra: dict[str, Raw]) -> AnyPart:
    if content.type == "refusal":
        return Refusal(text=content.refusal or "", extra=extra)
    citations = tuple(map(read_citation, content.annotations or ()))
    return Text(text=content.text or "", citations=citations, extra=extra)


def read_thinking(raw: Raw) -> list[Reasoning]:
    """None for an item that shows nothing and proves nothing."""
    item = _reasoning.decode(raw)
    summary, content = _join(item.summary), _join(item.content)
    sealed = item.encrypted_content or None
    if not (summary or content or sealed):
        return []
    return as_parts(Reasoning(id=item.id, sealed=sealed), summary, content)


def _join(pieces: list[Content] | None) -> str:
    return GAP.join(piece.text for piece in pieces or () if piece.text)


def read_call(raw: Raw, *, custom: bool) -> ToolCall:
    item = _call.decode(raw)
    members = {"namespace": item.namespace, "caller": item.caller}
    return ToolCall(
        # Results refer to call_id; id names the item, and is used where call_id is missing.
        id=item.call_id or item.id or "",
        name=item.name or "",
        arguments=(item.input if custom else item.arguments) or "",
        custom=custom,
        extra={name: value.copy() for name, value in members.items() if value != NULL},
    )


def text_of(part: AnyPart) -> str:
    if isinstance(part, ToolCall):
        return part.arguments
    return part.text if isinstance(part, Text | Refusal | Reasoning) else ""


def without_text(part: AnyPart) -> AnyPart:
    """The part as it starts: what grows or is cited comes later."""
    match part:
        case Text():
            return replace(part, text="", citations=())
        case Refusal():
            return replace(part, text="")
        case Reasoning():
            return replace(part, text="", sealed=None)
        case ToolCall():
            return replace(part, arguments="")
    return part
