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

_Thought = tuple[tuple[Reasoning, ...], ToolCall]
"""A call and the thinking that was sealed into its id."""


def read_messages(rows: list[Members]) -> tuple[tuple[Text, ...], tuple[Turn, ...]]:
    """The instructions at the beginning and the turns after them. Raises BadRequest."""
    history = _History()
    turns = [history.read(row) for row in rows]
    if not turns:
        raise BadRequest("messages must hold at least one message")
    leading = next((i for i, turn in enumerate(turns) if not _is_plain_system(turn)), len(turns))
    texts = [part for turn in turns[:leading] for part in turn.parts if isinstance(part, Text)]
    return tuple(texts), tuple(turns[leading:])


def _is_plain_system(turn: Turn) -> bool:
    """Whether a system message is nothing but text, so that it can stand as an instruction."""
    return (
        turn.role == "system"
        and not turn.extra
        and all(isinstance(part, Text) for part in turn.parts)
    )


class _History:
    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._waiting: dict[str, str] = {}
        """Calls without a result so far: their ids to their tools' names."""

    def read(self, row: Members) -> Turn:
        role = (row.text("role") or "").lower()
        if role not in _ROLES:
            raise BadRequest(f"{row.place('role')} must be system, user, assistant or tool")
        parts = self._result(row) if role == "tool" else self._parts(row, role)
        return Turn(_ROLES[role], parts, extra=row.rest())

    def _parts(self, row: Members, role: str) -> tuple[AnyPart, ...]:
        thinking = row.text("thinking") if role == "assistant" else None
        content = _read_content(row)
        calls = row.rows("tool_calls") if role == "assistant" else []
        if not calls:
            return (*((Reasoning(text=thinking),) if thinking else ()), *content)
        return _order_parts(thinking or "", content, [self._call(call) for call in calls])

    def _call(self, row: Members) -> _Thought:
        function = row.inner("function")
        if function is None:
            raise BadRequest(f"{row.place('function')} must be an object")
        call_id, origin, signature, thoughts = unseal_id(row.text("id") or "")
        name = function.text("name")
        if not name:
            raise BadRequest(f"{function.place('name')} must be a string")
        arguments = _arguments(function)
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

    def _result(self, row: Members) -> tuple[AnyPart, ...]:
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
        return (ToolResult(call_id=call_id, name=name, content=content),)

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


def _order_parts(
    thinking: str, content: tuple[Text | Media, ...], calls: list[_Thought]
) -> tuple[AnyPart, ...]:
    """Thinking, words, calls; each call behind the thinking that its id brought back."""
    shown = _without_sealed(thinking, calls)
    (thoughts, first), *others = calls
    parts: list[AnyPart] = [
        *thoughts,
        *((Reasoning(text=shown),) if shown else ()),
        *content,
        first,
    ]
    for thoughts, call in others:
        parts += (*thoughts, call)
    return tuple(parts)


def _without_sealed(thinking: str, calls: list[_Thought]) -> str:
    """The shown thinking that no id brought back; what was sealed is what its vendor checks."""
    sealed = [thought.text for thoughts, _ in calls for thought in thoughts]
    if not sealed:
        return thinking
    head = "".join(sealed)
    return thinking[len(head) :] if thinking.startswith(head) else ""


def _arguments(function: Members) -> str:
    try:
        return as_text(function.raw("arguments"))
    except BROKEN:
        raise BadRequest(f"{function.place('arguments')} must be a JSON object") from None


def _read_content(row: Members) -> tuple[Text | Media, ...]:
    text = row.text("content")
    images = [_image(image) for image in row.texts("images")]
    return (Text(text=text), *images) if text else tuple(images)


def _image(image: str) -> Media:
    media_type, data = split_data_url(image)
    return Media(kind="image", media_type=media_type or media_type_of(data), data=data)
