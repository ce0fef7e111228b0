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
from gateway_formats.instructions import take_from_text
from gateway_formats.whole_turns import check_turn

from .._dialect import DIALECT, MESSAGE, is_on_message
from .._namespaces import namespaced_names
from .._scope import Scope
from .content import write_content, write_output_piece
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
        self._apart = namespaced_names(conversation.tools) if scope.own else {}
        parts = [part for turn in conversation.turns for part in turn.parts]
        self._custom = {part.id for part in parts if isinstance(part, ToolCall) and part.custom}
        self._called = {part.id for part in parts if isinstance(part, ToolCall)}
        self._answered = {part.call_id for part in parts if isinstance(part, ToolResult)}

    def add_instructions(self, texts: Iterable[Text]) -> None:
        for text in texts:
            text, members = take_from_text(text) if self._scope.own else (text, {})
            self._add_message("developer", (text,), members)

    def add(self, turn: Turn) -> None:
        before = len(self.written)
        if turn.name is not None:
            self._scope.losses.add("name")
        if turn.role == "assistant":
            self._add_assistant_turn(turn)
        elif turn.role == "system":
            self._add_message("developer", turn.parts, turn.extra)
        else:
            own, called = self._scope.own, self._called
            parts: Sequence[AnyPart] = turn.parts
            # Results of tools come first, so that they follow their calls.
            if not own:
                parts = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
            content: list[AnyPart] = []
            for part in parts:
                # The vendor refuses a result whose call is not in the input.
                if isinstance(part, ToolResult) and not own and part.call_id not in called:
                    self._record_losses(part)
                    content += part.content
                    continue
                item = self._write_standalone_item(part)
                if item is None:
                    content.append(part)
                    continue
                self._add_message("user", content, turn.extra)
                content = []
                self.written.append(item)
            self._add_message("user", content, turn.extra)
        if len(self.written) == before:
            check_turn(turn)

    def _record_losses(self, result: ToolResult) -> None:
        """Record what a result carries that this dialect has no member for."""
        if result.failed:
            self._scope.losses.add("tool_error")
        if not self._scope.own:
            self._scope.losses.add_extra(result.extra)

    def _write_standalone_item(self, part: AnyPart) -> Any:
        """The item that a part of a user's turn is by itself; ``None`` for message content."""
        if isinstance(part, ToolResult):
            scope = self._scope
            self._record_losses(part)
            output = write_content(part.content, scope)
            custom = part.custom or part.call_id in self._custom
            item: dict[str, Any] = {
                "type": "custom_tool_call_output" if custom else "function_call_output",
                "call_id": shorten_id(part.call_id),
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

    def _add_message(self, role: str, parts: Sequence[AnyPart], extra: Any) -> None:
        if not parts:
            return
        content = write_content(parts, self._scope)
        if not content and not self._scope.own:
            return
        if role == "developer":
            # developer replaces system: https://platform.openai.com/docs/guides/text
            role = self._scope.word("system_role", "developer")
        item = _build_message(role, content)
        self._scope.put_extra(item, extra)
        self.written.append(item)

    def _add_assistant_turn(self, turn: Turn) -> None:
        self._scope.put_extra({}, turn.extra)
        content: list[Text | Refusal] = []
        unanswered: list[ToolCall] = []
        for part in turn.parts:
            if isinstance(part, Text | Refusal):
                if part.extra and any(map(is_on_message, part.extra)):
                    self._add_assistant_message(content)
                    content = []
                content.append(part)
                continue
            self._add_assistant_message(content)
            content = []
            scope = self._scope
            match part:
                case Reasoning():
                    self._add_reasoning(part)
                case ToolCall():
                    self.written.append(self._write_call(part))
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
        self._add_assistant_message(content)
        # The vendor refuses a call that has no result.
        for call in unanswered:
            item_type = "custom_tool_call_output" if call.custom else "function_call_output"
            output = {"type": item_type, "call_id": shorten_id(call.id), "output": UNANSWERED}
            self.written.append(output)

    def _add_assistant_message(self, parts: Sequence[Text | Refusal]) -> None:
        """A message of the model's; a lone plain text is a string."""
        scope = self._scope
        parts = [part for part in parts if part.text or scope.own]
        if not parts:
            return
        content: Any = [write_output_piece(part, scope) for part in parts]
        extra = {n: raw for n, raw in parts[0].extra.items() if is_on_message(n)}
        first = content[0]
        if content == [{"type": "output_text", "text": first.get("text"), "annotations": []}]:
            content = first["text"]
        item = _build_message("assistant", content)
        scope.put_extra(item, {n.removeprefix(MESSAGE): raw for n, raw in extra.items()})
        self.written.append(item)

    def _add_reasoning(self, part: Reasoning) -> None:
        item = write_reasoning(part, self._scope)
        if item is None:
            return
        last = self.written[-1] if self.written else None
        before = last if isinstance(last, dict) and last.get("type") == "reasoning" else {}
        # A summary and the thinking itself are two parts here and one item there.
        if "id" in before and before["id"] == item.get("id") and "content" not in before:
            before.update(item, summary=before["summary"])
        else:
            self.written.append(item)

    def _write_call(self, call: ToolCall) -> dict[str, Any]:
        item: dict[str, Any] = {
            "type": "custom_tool_call" if call.custom else "function_call",
            "call_id": shorten_id(call.id),
            "name": call.name,
        }
        if call.name in self._apart:
            item["namespace"], item["name"] = self._apart[call.name]
        if call.custom:
            item["input"] = call.arguments
        else:
            # The vendor parses arguments as JSON and refuses an empty text.
            item["arguments"] = call.arguments or "{}"
        self._scope.put_extra(item, call.extra)
        return item


def _build_message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


def shorten_id(call_id: str) -> str:
    """The same id for the same call, never longer than the vendor allows."""
    if call_id and len(call_id) <= LONGEST_ID:
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:40]}"
