"""Turns as the ``contents`` the vendor takes: roles by turns, results right after their calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway_core import AnyPart, Conversation, Text, ToolCall, ToolResult, Turn

from .._media import Json
from .call_pairs import paired
from .parts import write_part, write_result
from .target import Aim

PLACEHOLDER = "skip_thought_signature_validator"
"""What the vendor accepts for a function call whose signature nobody has.
https://ai.google.dev/gemini-api/docs/thought-signatures"""


@dataclass(slots=True)
class _Content:
    role: str
    results: list[tuple[int, Json]] = field(default_factory=list)
    """Each with the place of its call among the calls."""
    parts: list[Json] = field(default_factory=list)
    extra: Json = field(default_factory=dict)

    @property
    def opens_turn(self) -> bool:
        """Whether the user speaks here, rather than the client's tools."""
        return self.role == "user" and not self.results

    def whole(self) -> Json:
        results = [result for _, result in sorted(self.results, key=lambda each: each[0])]
        return {"role": self.role, "parts": results + self.parts, **self.extra}


def plain_contents(turns: Sequence[Turn]) -> list[Json]:
    """What is said where user and assistant take turns with one plain text each, as most do;
    nothing for any others."""
    contents: list[Json] = []
    role = "user"
    for turn in turns:
        if turn.role != role or turn.name is not None or turn.extra or len(turn.parts) != 1:
            return []
        part = turn.parts[0]
        if type(part) is not Text or part.citations or part.extra or not part.text:
            return []
        if part.cache is not None or part.signature is not None:
            return []
        speaker = "user" if role == "user" else "model"
        contents.append({"role": speaker, "parts": [{"text": part.text}]})
        role = "assistant" if role == "user" else "user"
    return contents


class Contents:
    """Gathers turns into contents."""

    def __init__(self, aim: Aim) -> None:
        self._aim = aim
        self._names: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._contents: list[_Content] = []

    def write(self, conversation: Conversation) -> list[Json]:
        return plain_contents(conversation.turns) or self._gathered(conversation)

    def _gathered(self, conversation: Conversation) -> list[Json]:
        # A client of this dialect is left to the vendor's own judgement.
        turns = conversation.turns if self._aim.own else paired(conversation.turns)
        for turn in turns:
            self._turn(turn)
        kept = [content for content in self._contents if content.parts or content.results]
        if kept and kept[0].role == "model" and not self._aim.own:
            # The vendor wants the user to have spoken first.
            kept.insert(0, _Content("user", parts=[{"text": " "}]))
        if self._aim.nature.since(3) and self._aim.placeholder:
            self._vouch(kept)
        return [content.whole() for content in kept]

    def _turn(self, turn: Turn) -> None:
        if turn.name is not None:
            self._aim.losses.add("name")
        content = self._open("model" if turn.role == "assistant" else "user")
        for part in turn.parts:
            self._part(part, content)
        if self._aim.own:
            content.extra |= turn.extra
        else:
            self._aim.losses.add_extra(turn.extra)
        if self._aim.own and turn.parts == (Text(text=""),) and not content.parts:
            content.parts.append({"text": ""})

    def _open(self, role: str) -> _Content:
        last = self._contents[-1] if self._contents else None
        if last is not None and not last.parts and not last.results:
            self._contents.pop()
            last = self._contents[-1] if self._contents else None
        if last is None or last.role != role:
            last = _Content(role)
            self._contents.append(last)
        return last

    def _part(self, part: AnyPart, content: _Content) -> None:
        if isinstance(part, ToolResult):
            name = self._names.get(part.call_id) or part.name or part.call_id
            result, beside = write_result(part, name, self._aim)
            place = len(content.results) if self._aim.call_ids else self._place(part)
            content.results.append((place, result))
            content.parts += beside
            return
        if isinstance(part, ToolCall):
            self._places[part.id] = len(self._places)
            self._names[part.id] = part.name
        made = write_part(part, self._aim)
        if made is not None:
            content.parts.append(made)

    def _place(self, result: ToolResult) -> int:
        """Without ids the vendor matches results of one name with their calls by order."""
        return self._places.get(result.call_id, len(self._places))

    def _vouch(self, contents: list[_Content]) -> None:
        """Every step of the current turn must have a signature on its first function call."""
        turns = [number for number, content in enumerate(contents) if content.opens_turn]
        for content in contents[turns[-1] if turns else 0 :]:
            first = next((part for part in content.parts if "functionCall" in part), None)
            if first is not None and "thoughtSignature" not in first:
                first["thoughtSignature"] = PLACEHOLDER
                self._aim.losses.add("reasoning_signature")
