"""Instructions and turns to the items of ``input``."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

from .._dialect import DIALECT, MESSAGE, is_on_message
from .._namespaces import apart
from .._scope import Scope
from .content import write_content, write_spoken
from .reasoning import write_reasoning

LONGEST_ID = 64
"""Characters of a call's id that the vendor accepts."""
UNANSWERED = "The tool was not run."

_encode = msgspec.json.Encoder().encode


class Items:
    """Writes turns one after another; ``written`` is the result."""

    def __init__(self, scope: Scope, conversation: Conversation) -> None:
        self.written: list[Any] = []
        self._scope = scope
        self._apart = apart(conversation.tools) if scope.own else {}
        parts = [part for turn in conversation.turns for part in turn.parts]
        self._custom = {part.id for part in parts if isinstance(part, ToolCall) and part.custom}
        self._called = {part.id for part in parts if isinstance(part, ToolCall)}
        self._answered = {part.call_id for part in parts if isinstance(part, ToolResult)}

    def instruct(self, texts: Iterable[Text]) -> None:
        for text in texts:
            self._message("developer", (text,), {})

    def add(self, turn: Turn) -> None:
        if turn.name is not None:
            self._scope.losses.add("name")
        if turn.role == "assistant":
            self._speak(turn)
        elif turn.role == "system":
            self._message("developer", turn.parts, turn.extra)
        else:
            own, called = self._scope.own, self._called
            parts: Sequence[AnyPart] = turn.parts
            # Results of tools come first, so that they follow their calls.
            if not own:
                parts = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
            said: list[AnyPart] = []
            for part in parts:
                # The vendor refuses a result whose call is not in the input.
                if isinstance(part, ToolResult) and not own and part.call_id not in called:
                    self._note(part)
                    said += part.content
                    continue
                item = self._standing(part)
                if item is None:
                    said.append(part)
                    continue
                self._message("user", said, turn.extra)
                said = []
                self.written.append(item)
            self._message("user", said, turn.extra)

    def _note(self, result: ToolResult) -> None:
        """What of a result cannot be said here."""
        if result.failed:
            self._scope.losses.add("tool_error")
        if not self._scope.own:
            self._scope.losses.add_extra(result.extra)

    def _standing(self, part: AnyPart) -> Any:
        """The item that a part of a user's turn is by itself; ``None`` for message content."""
        if isinstance(part, ToolResult):
            scope = self._scope
            self._note(part)
            output = write_content(part.content, scope)
            custom = part.custom or part.call_id in self._custom
            item: dict[str, Any] = {
                "type": "custom_tool_call_output" if custom else "function_call_output",
                "call_id": shortened(part.call_id),
                "output": output,
            }
            if scope.own:
                item.update(part.extra)
            if scope.own and part.name is not None:
                item["name"] = part.name
            return item
        own = self._scope.own and isinstance(part, Foreign) and part.dialect == DIALECT
        if own and isinstance(part, Foreign) and not part.type.startswith(MESSAGE):
            return part.raw
        return None

    def _message(self, role: str, parts: Sequence[AnyPart], extra: Any) -> None:
        if not parts:
            return
        content = write_content(parts, self._scope)
        if not content and not self._scope.own:
            return
        if role == "developer":
            role = self._scope.word("system_role", "developer")
        item = _message(role, content)
        self._scope.put_extra(item, extra)
        self.written.append(item)

    def _speak(self, turn: Turn) -> None:
        self._scope.put_extra({}, turn.extra)
        said: list[Text | Refusal] = []
        unanswered: list[ToolCall] = []
        for part in turn.parts:
            if isinstance(part, Text | Refusal):
                if part.extra and any(map(is_on_message, part.extra)):
                    self._say(said)
                    said = []
                said.append(part)
                continue
            self._say(said)
            said = []
            self._do(part, unanswered)
        self._say(said)
        self.written += map(_unanswered, unanswered)

    def _say(self, parts: Sequence[Text | Refusal]) -> None:
        """A message of the model's; a lone plain text is a string."""
        scope = self._scope
        parts = [part for part in parts if part.text or scope.own]
        if not parts:
            return
        content: Any = [write_spoken(part, scope) for part in parts]
        extra = {n: raw for n, raw in parts[0].extra.items() if is_on_message(n)}
        first = content[0]
        if content == [{"type": "output_text", "text": first.get("text"), "annotations": []}]:
            content = first["text"]
        item = _message("assistant", content)
        scope.put_extra(item, {n.removeprefix(MESSAGE): raw for n, raw in extra.items()})
        self.written.append(item)

    def _do(self, part: AnyPart, unanswered: list[ToolCall]) -> None:
        scope = self._scope
        match part:
            case Reasoning():
                self._think(part)
            case ToolCall():
                self.written.append(self._call(part))
                if part.id not in self._answered and not scope.own:
                    unanswered.append(part)
            case Media() if scope.own and part.kind == "image" and "id" in part.extra:
                drawn = {"type": "image_generation_call", "result": part.data, **part.extra}
                self.written.append(drawn)
            case Media():
                scope.losses.add(part.kind)
            case Foreign() if scope.own and part.dialect == DIALECT:
                self.written.append(part.raw)
            case Foreign():
                scope.losses.add(f"part:{part.type}")
            case _:
                scope.losses.add("part:tool_result")

    def _think(self, part: Reasoning) -> None:
        item = write_reasoning(part, self._scope)
        if item is None:
            return
        last = self.written[-1] if self.written else None
        is_reasoning = isinstance(last, dict) and last.get("type") == "reasoning"
        if is_reasoning and "id" in last and last["id"] == item.get("id") and "content" not in last:
            last.update(item, summary=last["summary"])  # its summary and itself, of one item
        else:
            self.written.append(item)

    def _call(self, call: ToolCall) -> dict[str, Any]:
        item: dict[str, Any] = {
            "type": "custom_tool_call" if call.custom else "function_call",
            "call_id": shortened(call.id),
            "name": call.name,
        }
        if call.name in self._apart:
            item["namespace"], item["name"] = self._apart[call.name]
        if call.custom:
            item["input"] = call.arguments
        else:
            item["arguments"] = call.arguments or "{}"
        self._scope.put_extra(item, call.extra)
        return item


def _message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def _unanswered(call: ToolCall) -> dict[str, Any]:
    """The vendor refuses a call that has no result."""
    kind = "custom_tool_call_output" if call.custom else "function_call_output"
    return {"type": kind, "call_id": shortened(call.id), "output": UNANSWERED}


def shortened(call_id: str) -> str:
    """The same id for the same call, never longer than the vendor allows."""
    if call_id and len(call_id) <= LONGEST_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:40]}"
