"""Writes the parts of a turn.

https://ai.google.dev/api/caching#Part
"""

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Foreign,
    Media,
    PartUnsupported,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

from .._dialect import DIALECT
from .._media import Json, write_blob, write_media
from .._members import Members, take_prefix
from .goal import Goal

_RETURNABLE = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""Media types that a function's result may hold, from the third generation on.
https://ai.google.dev/gemini-api/docs/function-calling"""
_RESULT_MEMBERS = frozenset({"result", "output", "error"})

_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_array = msgspec.json.Decoder(list[Raw]).decode


def write_part(part: AnyPart, goal: Goal) -> Json | None:
    """Any part but a tool result; ``None`` when nothing is left of it to send."""
    losses = goal.losses
    if part.cache is not None:
        losses.add("cache_control")
    match part:
        case Text() | Refusal():
            if isinstance(part, Text) and part.citations:
                losses.add("citations")
            if isinstance(part, Refusal):
                losses.add("refusal")
            written = _sign({"text": part.text}, part, goal)
            is_empty = not part.text and len(written) == 1
            return None if is_empty else _add_extra(written, part, goal)
        case Reasoning():
            if part.sealed is not None:
                losses.add("reasoning_signature")
            written = _sign({"text": part.text, "thought": True}, part, goal)
            is_empty = not part.text and len(written) == 2
            return None if is_empty else _add_extra(written, part, goal)
        case ToolCall():
            text = part.arguments or "{}"
            # Arguments have to be an object, whatever the tool of another vendor took.
            is_object = not part.custom and isinstance(_read_json(text), dict)
            arguments: Json | Raw = Raw(text.strip().encode()) if is_object else {"input": text}
            call: Json = {"id": part.id} if goal.call_ids else {}
            call |= {"name": part.name, "args": arguments}
            return _add_extra(_sign({"functionCall": call}, part, goal), part, goal)
        case Media():
            return _write_media(part, goal)
        case Foreign() if part.dialect == DIALECT:
            return _sign(dict(_decode_object(part.raw)), part, goal)
        case Foreign():
            losses.add(f"part:{part.type}")
    return None


def _write_media(media: Media, goal: Goal) -> Json:
    """Raises PartUnsupported for a medium that this provider cannot read."""
    if media.name is not None and not goal.own:
        goal.losses.add("file_name")
    if media.detail not in (None, "auto"):
        goal.losses.add("detail")
    written = write_media(media, goal.provider, goal.own)
    if written is None:
        raise PartUnsupported(media.kind)
    signed = _sign(written, media, goal) if media.file_id is None else written
    return _add_extra(signed, media, goal)


def write_result(result: ToolResult, name: str, goal: Goal) -> tuple[Json, list[Json]]:
    """A function's result, and the media that have to stand beside it."""
    if result.cache is not None:
        goal.losses.add("cache_control")
    text = "\n".join(piece.text for piece in result.content if isinstance(piece, Text))
    members = _read_json(text)
    value: str | Raw = text if members is None else Raw(text.strip().encode())
    # The vendor takes only an object. One whose single member would pass for the whole is wrapped.
    is_whole = isinstance(members, dict) and not (
        len(members) == 1 and next(iter(members)) in _RESULT_MEMBERS
    )
    output = {"error" if result.failed else "result": value}
    response: Json = {"id": result.call_id} if goal.call_ids else {}
    response |= {"name": name, "response": value if is_whole and not result.failed else output}
    held: list[Json] = []
    beside: list[Json] = []
    for piece in result.content:
        if not isinstance(piece, Media):
            continue
        written = _write_media(piece, goal)
        # Older models take media beside a function's result, not within it.
        fits = goal.traits.since(3)
        if fits and not goal.own:
            blob = write_blob(piece, False)
            fits = blob is not None and blob.get("mimeType") in _RETURNABLE
        (held if fits else beside).append(written)
    if held:
        response["parts"] = held
    return _add_extra({"functionResponse": response}, result, goal), beside


def _read_json(text: str) -> Members | list[Raw] | None:
    """The members of a JSON object or array; ``None`` for any other text."""
    start = text.lstrip()[:1]
    try:
        if start == "{":
            return _decode_object(text)
        return _decode_array(text) if start == "[" else None
    except (msgspec.MsgspecError, RecursionError):
        return None


def _sign(written: Json, part: AnyPart, goal: Goal) -> Json:
    if part.signature is None:
        return written
    if goal.can_read(part.origin):
        return {**written, "thoughtSignature": part.signature}
    goal.losses.add("reasoning_signature")
    return written


def _add_extra(written: Json, part: AnyPart, goal: Goal) -> Json:
    """Put members without a neutral name back, or record that they are lost."""
    if not part.extra:
        return written
    if not goal.own:
        goal.losses.add_extra(part.extra)
        return written
    plain: Members = {name: each for name, each in part.extra.items() if "." not in name}
    for name, value in written.items():
        inner = take_prefix(name, part.extra)
        if inner and isinstance(value, dict):
            written = {**written, name: {**value, **inner}}
    return {**written, **plain}
