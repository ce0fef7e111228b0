"""Writes turns as ``contents``: alternating roles, results right after their calls.

https://ai.google.dev/api/caching#Content
"""

from dataclasses import dataclass, field

from gateway_core import Conversation, Text, ToolCall, ToolResult, Turn
from gateway_formats.whole_turns import check_turn

from .._media import Json
from .call_pairs import pair_calls
from .goal import Goal
from .parts import write_part, write_result

PLACEHOLDER = "skip_thought_signature_validator"
"""What the vendor accepts for a function call whose signature is lost.
https://ai.google.dev/gemini-api/docs/thought-signatures"""


@dataclass(slots=True)
class OpenContent:
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


class Contents:
    """Gathers turns into contents."""

    def __init__(self, goal: Goal) -> None:
        self._goal = goal
        self._names: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._contents: list[OpenContent] = []

    def write(self, conversation: Conversation) -> list[Json]:
        goal = self._goal
        # What a client of this dialect sends is left for the vendor itself to judge.
        for turn in conversation.turns if goal.own else pair_calls(conversation.turns):
            self._add_turn(turn)
        kept = [content for content in self._contents if content.parts or content.results]
        if kept and kept[0].role == "model" and not goal.own:
            # The vendor wants the user to have spoken first.
            kept.insert(0, OpenContent("user", parts=[{"text": " "}]))
            goal.losses.add("added_turn")
        if goal.traits.since(3) and goal.placeholder:
            turns = [number for number, content in enumerate(kept) if content.opens_turn]
            # Every step of the current turn must have a signature on its first function call.
            for content in kept[turns[-1] if turns else 0 :]:
                call = next((part for part in content.parts if "functionCall" in part), None)
                if call is not None and "thoughtSignature" not in call:
                    call["thoughtSignature"] = PLACEHOLDER
                    goal.losses.add("reasoning_signature")
        return [content.whole() for content in kept]

    def _add_turn(self, turn: Turn) -> None:
        losses = self._goal.losses
        if turn.name is not None:
            losses.add("name")
        if turn.role == "system":
            losses.add("system_turn")  # it becomes the user's word here
        # A turn of which nothing was left to send does not keep its neighbours apart.
        last = self._contents[-1] if self._contents else None
        if last is not None and not last.parts and not last.results:
            self._contents.pop()
        role = "model" if turn.role == "assistant" else "user"
        if not self._contents or self._contents[-1].role != role:
            self._contents.append(OpenContent(role))
        content = self._contents[-1]
        before = len(content.parts) + len(content.results)
        for part in turn.parts:
            if isinstance(part, ToolResult):
                name = self._names.get(part.call_id) or part.name or part.call_id
                result, beside = write_result(part, name, self._goal)
                place = len(content.results)
                if not self._goal.call_ids:
                    # Without ids the vendor matches results of one name with their calls by order.
                    place = self._places.get(part.call_id, len(self._places))
                content.results.append((place, result))
                content.parts += beside
                continue
            if isinstance(part, ToolCall):
                self._places[part.id] = len(self._places)
                self._names[part.id] = part.name
            written = write_part(part, self._goal)
            if written is not None:
                content.parts.append(written)
        if self._goal.own:
            content.extra |= turn.extra
        else:
            losses.add_extra(turn.extra)
        if self._goal.own and turn.parts == (Text(text=""),) and not content.parts:
            content.parts.append({"text": ""})
        if len(content.parts) + len(content.results) == before:
            check_turn(turn)
