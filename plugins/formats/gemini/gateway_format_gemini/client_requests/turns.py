"""Reads a client's ``contents`` as turns that alternate.

https://ai.google.dev/api/caching#Content
"""

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import AnyPart, BadRequest, Reasoning, Text, ToolResult, Turn

from .._members import Members, read_list, read_members, take_text
from .call_ids import CallIds
from .parts import read_part

_NOTHING = Text(text="")
_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user", "": "user"}


def read_turns(contents: Raw | None) -> tuple[Turn, ...]:
    """Raises BadRequest, naming the content or part that makes no sense."""
    items = read_list(contents, "contents")
    if not items:
        raise BadRequest("contents must hold at least one content")
    turns: list[OpenTurn] = []
    ids = CallIds()
    for number, item in enumerate(items):
        where = f"contents[{number}]"
        members = read_members(item, where)
        role = _ROLES.get((take_text(members, "role", f"{where}.") or "").lower())
        if role is None:
            raise BadRequest(f"{where}.role: please use a valid role: user, model")
        # Clients that stream keep every piece they received as a content of its own.
        if not turns or turns[-1].role != role:
            turns.append(OpenTurn(role))
        for place, part in enumerate(read_list(members.pop("parts", None), f"{where}.parts")):
            read, carried = read_part(part, f"{where}.parts[{place}]", ids)
            turns[-1].add(read, carried)
        turns[-1].extra |= members
    return tuple(turn for turn in map(OpenTurn.whole, turns) if turn.parts)


class OpenTurn:
    """A turn that may still grow."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.parts: list[AnyPart] = []
        self.extra: Members = {}

    def add(self, part: AnyPart | None, carried: tuple[Reasoning, ...]) -> None:
        # Thinking that a whole text brings came between it and the text before.
        begins = self.role != "assistant" or (carried and part != _NOTHING)
        last = None if begins or not self.parts else self.parts[-1]
        if (
            part is not None
            and last is not None
            and (
                (isinstance(last, Text) and isinstance(part, Text))
                or (isinstance(last, Reasoning) and isinstance(part, Reasoning))
            )
            and last.signature is None
            and not (last.extra or part.extra)
        ):
            self.parts[-1] = replace(
                last, text=last.text + part.text, signature=part.signature, origin=part.origin
            )
        elif part is not None:
            self.parts.append(part)
        if not carried:
            return
        # Thinking stands before the part that carried it, in place of what was shown of it.
        end = max(len(self.parts) - 1, 0)
        start = end
        while start:
            before = self.parts[start - 1]
            if not isinstance(before, Reasoning) or before.signature is not None:
                break
            if before.sealed is not None:
                break
            start -= 1
        self.parts[start:end] = carried

    def whole(self) -> Turn:
        parts = [part for part in self.parts if part != _NOTHING]
        if self.role == "assistant":
            return Turn("assistant", tuple(parts), extra=self.extra)
        results = [part for part in parts if isinstance(part, ToolResult)]
        others = [part for part in parts if not isinstance(part, ToolResult)]
        # An empty text is all that some clients send beside a system instruction.
        return Turn("user", (*results, *others) or tuple(self.parts[:1]), extra=self.extra)
