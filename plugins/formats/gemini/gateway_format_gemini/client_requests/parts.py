"""The parts of a turn, as a client sends them."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    BadRequest,
    Foreign,
    Media,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

from .._media import from_data, from_uri
from .._members import (
    Members,
    camel,
    compact,
    members,
    prefixed,
    sequence,
    take_flag,
    take_members,
    take_text,
    text_of,
)
from .._signatures import DIALECT, Opened, open_signature
from .call_ids import CallIds

_UNSIGNED = Opened("", None)
_TELLING = frozenset({"result", "output", "error"})
"""Members that hold the whole of a function's answer when they stand alone."""
_MANNERS = frozenset(
    {"mediaResolution", "videoMetadata", "partMetadata", "mediaProcessing", "audioMetadata"}
    | {"documentMetadata", "spreadsheetMetadata", "speechMetadata"}
)
"""Members that say how to look at a part, not what it is."""


def read_part(raw: Raw, where: str, ids: CallIds) -> tuple[AnyPart | None, tuple[Reasoning, ...]]:
    """A part, and the thinking that was sealed into its signature.

    A part that says nothing at all gives ``None``. Raises BadRequest.
    """
    given = members(raw, where)
    where = f"{where}."
    value = take_text(given, "thoughtSignature", where)
    opened = open_signature(value) if value else _UNSIGNED
    thought = take_flag(given, "thought", where) is True
    return _part(given, where, thought, opened, ids), opened.reasoning


def _part(
    given: Members, where: str, thought: bool, opened: Opened, ids: CallIds
) -> AnyPart | None:
    if "text" in given:
        return _text(given, where, thought, opened)
    if thought and given:
        return _foreign({**given, "thought": Raw(b"true")}, opened)
    if "functionCall" in given:
        return _call(given, where, opened, ids)
    if "functionResponse" in given:
        return _result(given, where, ids)
    if "inlineData" in given or "fileData" in given:
        return _media(given, where, opened)
    if given:
        return _foreign(given, opened)
    if opened.signature is None and not opened.reasoning:
        return None
    return Text(text="", signature=opened.signature, origin=opened.origin)


def _text(given: Members, where: str, thought: bool, opened: Opened) -> AnyPart:
    text = take_text(given, "text", where) or ""
    if thought:
        return Reasoning(text=text, signature=opened.signature, origin=_origin(opened), extra=given)
    return Text(text=text, signature=opened.signature, origin=_origin(opened), extra=given)


def _origin(opened: Opened) -> str:
    return opened.origin if opened.signature is not None else ""


def _call(given: Members, where: str, opened: Opened, ids: CallIds) -> ToolCall:
    where = f"{where}functionCall."
    call = take_members(given, "functionCall", where.removesuffix("functionCall."))
    name = take_text(call, "name", where)
    if not name:
        raise BadRequest(f"{where}name must be given")
    arguments = call.pop("args", None)
    if arguments is not None:
        members(arguments, f"{where}args")
    return ToolCall(
        id=ids.called(take_text(call, "id", where), name),
        name=name,
        arguments=compact(arguments).decode() if arguments is not None else "{}",
        signature=opened.signature,
        origin=_origin(opened),
        extra={**given, **prefixed("functionCall", call)},
    )


def _result(given: Members, where: str, ids: CallIds) -> ToolResult:
    where = f"{where}functionResponse."
    result = take_members(given, "functionResponse", where.removesuffix("functionResponse."))
    name = take_text(result, "name", where)
    if not name:
        raise BadRequest(f"{where}name must be given")
    response = result.pop("response", None)
    said, failed = _response(response, where) if response is not None else (None, False)
    media = [
        _media(members(each, f"{where}parts"), f"{where}parts.", _UNSIGNED)
        for each in sequence(result.pop("parts", None), f"{where}parts")
    ]
    return ToolResult(
        call_id=ids.answered(take_text(result, "id", where), name),
        name=name,
        content=((said,) if said is not None else ()) + tuple(media),
        failed=failed,
        extra={**given, **prefixed("functionResponse", result)},
    )


def _response(response: Raw, where: str) -> tuple[Text, bool]:
    """What a function gave back, as text, and whether that was an error."""
    said = members(response, f"{where}response")
    name = next(iter(said), "")
    if len(said) != 1 or name not in _TELLING:
        return Text(text=compact(response).decode()), False
    text = text_of(said[name])
    return Text(text=compact(said[name]).decode() if text is None else text), name == "error"


def _media(given: Members, where: str, opened: Opened) -> Media:
    name = "inlineData" if "inlineData" in given else "fileData"
    value = take_members(given, name, where)
    where = f"{where}{name}."
    media_type = take_text(value, "mimeType", where)
    title = take_text(value, "displayName", where)
    if name == "inlineData":
        media = from_data(media_type, take_text(value, "data", where) or "", title)
    else:
        uri = take_text(value, "fileUri", where)
        if not uri:
            raise BadRequest(f"{where}fileUri must be given")
        media = from_uri(media_type, uri, title)
    if opened.signature is not None and media.file_id is None:
        media = replace(media, signature=opened.signature, origin=opened.origin)
    extra = {**given, **prefixed(name, value)}
    return replace(media, extra=extra) if extra else media


def _foreign(given: Members, opened: Opened) -> Foreign:
    names = (camel(name) for name in given)
    kind = next((name for name in names if name not in _MANNERS and name != "thought"), "empty")
    return Foreign(
        dialect=DIALECT,
        type=kind,
        raw=Raw(msgspec.json.encode(given)),
        signature=opened.signature,
        origin=_origin(opened),
    )
