"""A client's messages to the hub's turns.

Ids are optional in this dialect. A call without one gets one that is unique in
the conversation; a result without one belongs to the first call still without
a result, of its tool's name where it has one. Where the client did return an
id, the thinking that was sealed into it comes out again.
"""

from typing import Literal

from gateway_core import (
    AnyPart,
    BadRequest,
    Media,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    unseal_id,
)
from gateway_formats.instructions import put_on_texts

from .._arguments import as_text
from .._dialect import BROKEN
from .._media_types import media_type_of, split_data_url
from .members import Members

# https://github.com/ollama/ollama/blob/main/docs/api.md#parameters-1
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
}


def read_messages(rows: list[Members]) -> tuple[tuple[Text, ...], tuple[Turn, ...]]:
    """The instructions at the beginning and the turns after them. Raises BadRequest."""
    history = _History()
    turns = [history.read(row) for row in rows]
    instructions: list[Text] = []
    for index, turn in enumerate(turns):
        texts = [part for part in turn.parts if isinstance(part, Text)]
        # A system message of nothing but text can stand as an instruction.
        if turn.role != "system" or len(texts) < len(turn.parts):
            return tuple(instructions), tuple(turns[index:])
        instructions += put_on_texts(texts, turn.extra)
    return tuple(instructions), ()


class _History:
    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._waiting: dict[str, str] = {}
        """Calls without a result so far: their ids to their tools' names."""

    def read(self, row: Members) -> Turn:
        role = (row.text("role") or "").lower()
        if role not in _ROLES:
            raise BadRequest(f"{row.place('role')} must be system, user, assistant or tool")
        if role == "tool":
            return Turn("user", (self._result(row),), extra=row.rest())
        is_assistant = role == "assistant"
        thinking = (row.text("thinking") if is_assistant else None) or ""
        content = _read_content(row)
        calls = [self._call(call) for call in row.rows("tool_calls")] if is_assistant else []
        # What an id brought back is what its vendor checks, so it is not repeated as shown text.
        sealed = "".join(thought.text for thoughts, _ in calls for thought in thoughts)
        if sealed:
            thinking = thinking[len(sealed) :] if thinking.startswith(sealed) else ""
        parts: list[AnyPart] = [*((Reasoning(text=thinking),) if thinking else ()), *content]
        # Each call stands behind its own thinking; shown thinking and text precede the first call.
        for index, (thoughts, call) in enumerate(calls):
            parts = [*parts, *thoughts, call] if index else [*thoughts, *parts, call]
        return Turn(_ROLES[role], tuple(parts), extra=row.rest())

    def _call(self, row: Members) -> tuple[tuple[Reasoning, ...], ToolCall]:
        """A call, behind the thinking that was sealed into its id."""
        function = row.inner("function")
        if function is None:
            raise BadRequest(f"{row.place('function')} must be an object")
        call_id, origin, signature, thoughts = unseal_id(row.text("id") or "")
        name = function.text("name")
        if not name:
            raise BadRequest(f"{function.place('name')} must be a string")
        try:
            arguments = as_text(function.raw("arguments"))
        except BROKEN:
            raise BadRequest(f"{function.place('arguments')} must be a JSON object") from None
        function.raw("index")  # says the position once more
        row.keep("function", function.rest())
        row.settle("type", "function")
        call = ToolCall(
            id=self._unique_id(call_id),
            name=name,
            arguments=arguments,
            signature=signature,
            origin=origin if signature is not None else "",
            extra=row.rest(),
        )
        self._waiting[call.id] = name
        return thoughts, call

    def _result(self, row: Members) -> ToolResult:
        # Clients that return ids give the thinking back that was sealed into them.
        call_id = unseal_id(row.text("tool_call_id") or "")[0]
        # tool_name is the documented member; some clients send name.
        name = row.text("tool_name") or row.text("name")
        content = _read_content(row)
        call_id = (
            call_id
            or next((id for id, tool in self._waiting.items() if name in (None, tool)), "")
            or self._unique_id("")
        )
        self._waiting.pop(call_id, None)
        return ToolResult(call_id=call_id, name=name, content=content)

    def _unique_id(self, call_id: str) -> str:
        """The client's own id, or a new one that no call before it has."""
        if not call_id:
            count = len(self._ids) + 1
            # The client may itself use ids of this form.
            while f"call_{count:04d}" in self._ids:
                count += 1
            call_id = f"call_{count:04d}"
        self._ids.add(call_id)
        return call_id


def _read_content(row: Members) -> tuple[Text | Media, ...]:
    text = row.text("content")
    parts: list[Text | Media] = [Text(text=text)] if text else []
    for image in row.texts("images"):
        media_type, data = split_data_url(image)
        media_type = media_type or media_type_of(data)
        parts.append(Media(kind="image", media_type=media_type, data=data))
    return tuple(parts)
