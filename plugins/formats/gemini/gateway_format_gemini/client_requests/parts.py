"""Reads the parts of a client's turn.

https://ai.google.dev/api/caching#Part
"""

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

from .._dialect import DIALECT
from .._media import read_blob, read_file
from .._members import (
    Members,
    add_prefix,
    compact,
    read_list,
    read_members,
    read_text,
    take_flag,
    take_members,
    take_text,
    to_camel,
)
from .._signatures import OpenedSignature, open_signature
from .call_ids import CallIds

_UNSIGNED = OpenedSignature("", None)
_RESULT_MEMBERS = frozenset({"result", "output", "error"})
"""Members that hold the whole of a function's result when they stand alone."""
_MANNERS = frozenset(
    {"mediaResolution", "videoMetadata", "partMetadata", "mediaProcessing", "audioMetadata"}
    | {"documentMetadata", "spreadsheetMetadata", "speechMetadata"}
)
"""Members that say how to look at a part, not what it is."""


def read_part(raw: Raw, where: str, ids: CallIds) -> tuple[AnyPart | None, tuple[Reasoning, ...]]:
    """A part, and the thinking that was sealed into its signature.

    A part without any content gives ``None``. Raises BadRequest.
    """
    members = read_members(raw, where)
    where = f"{where}."
    value = take_text(members, "thoughtSignature", where)
    opened = open_signature(value) if value else _UNSIGNED
    thought = take_flag(members, "thought", where) is True
    return _read_content(members, where, thought, opened, ids), opened.reasoning


def _read_content(
    members: Members, where: str, thought: bool, opened: OpenedSignature, ids: CallIds
) -> AnyPart | None:
    origin = opened.origin if opened.signature is not None else ""
    if "text" in members:
        text = take_text(members, "text", where) or ""
        if thought:
            return Reasoning(text=text, signature=opened.signature, origin=origin, extra=members)
        return Text(text=text, signature=opened.signature, origin=origin, extra=members)
    if not thought and "functionCall" in members:
        call = _read_call(members, where, ids)
        return replace(call, signature=opened.signature, origin=origin)
    if not thought and "functionResponse" in members:
        return _read_result(members, where, ids)
    if not thought and ("inlineData" in members or "fileData" in members):
        return _read_media(members, where, opened)
    if members:
        if thought:
            members = {**members, "thought": Raw(b"true")}
        names = (to_camel(name) for name in members)
        kinds = (name for name in names if name not in _MANNERS and name != "thought")
        return Foreign(
            dialect=DIALECT,
            type=next(kinds, "empty"),
            raw=Raw(msgspec.json.encode(members)),
            signature=opened.signature,
            origin=origin,
        )
    if opened.signature is None and not opened.reasoning:
        return None
    return Text(text="", signature=opened.signature, origin=opened.origin)


def _read_call(members: Members, where: str, ids: CallIds) -> ToolCall:
    call = take_members(members, "functionCall", where)
    where = f"{where}functionCall."
    name = take_text(call, "name", where)
    if not name:
        raise BadRequest(f"{where}name must be given")
    arguments = call.pop("args", None)
    if arguments is not None:
        read_members(arguments, f"{where}args")
    return ToolCall(
        id=ids.add_call(take_text(call, "id", where), name),
        name=name,
        arguments=compact(arguments).decode() if arguments is not None else "{}",
        extra={**members, **add_prefix("functionCall", call)},
    )


def _read_result(members: Members, where: str, ids: CallIds) -> ToolResult:
    result = take_members(members, "functionResponse", where)
    where = f"{where}functionResponse."
    name = take_text(result, "name", where)
    if not name:
        raise BadRequest(f"{where}name must be given")
    response = result.pop("response", None)
    content: list[Text | Media] = []
    failed = False
    if response is not None:
        fields = read_members(response, f"{where}response")
        field = next(iter(fields), "")
        # The API's own library wraps what a function returns as output, result or error.
        if len(fields) == 1 and field in _RESULT_MEMBERS:
            text = read_text(fields[field])
            failed = field == "error"
            value = compact(fields[field]).decode() if text is None else text
        else:
            value = compact(response).decode()
        content.append(Text(text=value))
    for item in read_list(result.pop("parts", None), f"{where}parts"):
        part = read_members(item, f"{where}parts")
        content.append(_read_media(part, f"{where}parts.", _UNSIGNED))
    return ToolResult(
        call_id=ids.match_result(take_text(result, "id", where), name),
        name=name,
        content=tuple(content),
        failed=failed,
        extra={**members, **add_prefix("functionResponse", result)},
    )


def _read_media(members: Members, where: str, opened: OpenedSignature) -> Media:
    name = "inlineData" if "inlineData" in members else "fileData"
    value = take_members(members, name, where)
    where = f"{where}{name}."
    media_type = take_text(value, "mimeType", where)
    title = take_text(value, "displayName", where)
    if name == "inlineData":
        media = read_blob(media_type, take_text(value, "data", where) or "", title)
    else:
        uri = take_text(value, "fileUri", where)
        if not uri:
            raise BadRequest(f"{where}fileUri must be given")
        media = read_file(media_type, uri, title)
    # The origin of an uploaded file says who holds it, so there is no room for a signature's.
    if opened.signature is not None and media.file_id is None:
        media = replace(media, signature=opened.signature, origin=opened.origin)
    extra = {**members, **add_prefix(name, value)}
    return replace(media, extra=extra) if extra else media
