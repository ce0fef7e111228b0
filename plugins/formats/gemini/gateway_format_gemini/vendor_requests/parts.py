"""The parts of a turn, as the vendor takes them."""

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

from .._media import Json, inline, media_part
from .._members import Members, within
from .._signatures import DIALECT
from .target import Aim

_RETURNABLE = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""Media types that a function's result may hold, from the third generation on."""
_TELLING = frozenset({"result", "output", "error"})

_object = msgspec.json.Decoder(dict[str, Raw])
_array = msgspec.json.Decoder(list[Raw])


def write_part(part: AnyPart, aim: Aim) -> Json | None:
    """Any part but a tool result; ``None`` when nothing is left of it to send."""
    if part.cache is not None:
        aim.losses.add("cache_control")
    match part:
        case Text() | Refusal():
            return _text(part, aim)
        case Reasoning():
            return _reasoning(part, aim)
        case ToolCall():
            return _call(part, aim)
        case Media():
            return write_media(part, aim)
        case Foreign():
            return _foreign(part, aim)
        case ToolResult():
            return None


def write_media(media: Media, aim: Aim) -> Json | None:
    if media.name is not None and not aim.own:
        aim.losses.add("file_name")
    if media.detail not in (None, "auto"):
        aim.losses.add("detail")
    made = media_part(media, aim.provider, aim.own)
    if made is None:
        aim.losses.add("file_id" if media.file_id is not None else media.kind)
        return None
    signed = _signed(made, media, aim) if media.file_id is None else made
    return _with_extra(signed, media, aim)


def write_result(result: ToolResult, name: str, aim: Aim) -> tuple[Json, list[Json]]:
    """A function's answer, and the media that have to stand beside it."""
    if result.cache is not None:
        aim.losses.add("cache_control")
    texts = [piece.text for piece in result.content if isinstance(piece, Text)]
    answer: Json = {"id": result.call_id} if aim.call_ids else {}
    answer |= {"name": name, "response": _response("\n".join(texts), result.failed)}
    held: list[Json] = []
    beside: list[Json] = []
    for piece in result.content:
        if isinstance(piece, Media):
            made = write_media(piece, aim)
            if made is not None:
                (held if _fits_result(piece, aim) else beside).append(made)
    if held:
        answer["parts"] = held
    return _with_extra({"functionResponse": answer}, result, aim), beside


def _fits_result(media: Media, aim: Aim) -> bool:
    if not aim.nature.since(3):
        return False
    blob = inline(media, False)
    return aim.own if blob is None else aim.own or blob.get("mimeType") in _RETURNABLE


def _response(text: str, failed: bool) -> Json | Raw:
    """The object a function's answer has to be, made of what the tool really said."""
    said = _members(text)
    value = _listed(text) if said is None else Raw(text.strip().encode())
    if failed:
        return {"error": text if value is None else value}
    if value is None:
        return {"result": text}
    if said is None or (len(said) == 1 and next(iter(said)) in _TELLING):
        return {"result": value}
    return value


def _members(text: str) -> Members | None:
    """Text that is a JSON object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return _object.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _listed(text: str) -> Raw | None:
    """Text that is a JSON list."""
    if not text.lstrip().startswith("["):
        return None
    try:
        _array.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return Raw(text.strip().encode())


def _text(part: Text | Refusal, aim: Aim) -> Json | None:
    if isinstance(part, Text) and part.citations:
        aim.losses.add("citations")
    if isinstance(part, Refusal):
        aim.losses.add("refusal")
    made = _signed({"text": part.text}, part, aim)
    return _with_extra(made, part, aim) if part.text or len(made) > 1 else None


def _reasoning(part: Reasoning, aim: Aim) -> Json | None:
    if part.sealed is not None:
        aim.losses.add("reasoning_signature")
    made = _signed({"text": part.text, "thought": True}, part, aim)
    return _with_extra(made, part, aim) if part.text or len(made) > 2 else None


def _call(call: ToolCall, aim: Aim) -> Json:
    said = call.arguments or "{}"
    # Arguments have to be an object, whatever the tool of another vendor took.
    whole = not call.custom and _members(said) is not None
    arguments: Json | Raw = Raw(said.strip().encode()) if whole else {"input": said}
    made: Json = {"id": call.id} if aim.call_ids else {}
    made |= {"name": call.name, "args": arguments}
    return _with_extra(_signed({"functionCall": made}, call, aim), call, aim)


def _foreign(part: Foreign, aim: Aim) -> Json | None:
    if part.dialect != DIALECT:
        aim.losses.add(f"part:{part.type}")
        return None
    return _signed(dict(_object.decode(part.raw)), part, aim)


def _signed(made: Json, part: AnyPart, aim: Aim) -> Json:
    if part.signature is None:
        return made
    if aim.reads(part.origin):
        return {**made, "thoughtSignature": part.signature}
    aim.losses.add("reasoning_signature")
    return made


def _with_extra(made: Json, part: AnyPart, aim: Aim) -> Json:
    if not part.extra:
        return made
    if not aim.own:
        aim.losses.add_extra(part.extra)
        return made
    plain: Members = {name: each for name, each in part.extra.items() if "." not in name}
    for name, value in made.items():
        inner = within(name, part.extra)
        if inner and isinstance(value, dict):
            made = {**made, name: {**value, **inner}}
    return {**made, **plain}
