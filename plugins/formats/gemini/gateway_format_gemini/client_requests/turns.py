"""A client's ``contents`` as turns that take turns.

Clients that stream keep every piece they received as a content of its own,
so neighbours of one role are one turn, and pieces of text without a
signature between them are one text.
"""

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import AnyPart, BadRequest, Reasoning, Text, ToolResult, Turn

from .._members import Members, members, sequence, take_text
from .call_ids import CallIds
from .parts import read_part

_NOTHING = Text(text="")
_ROLES = {"user": "user", "model": "assistant", "function": "user", "tool": "user", "": "user"}


def read_turns(contents: Raw | None) -> tuple[Turn, ...]:
    """Raises BadRequest, naming the content or part that makes no sense."""
    listed = sequence(contents, "contents")
    if not listed:
        raise BadRequest("contents must hold at least one content")
    turns: list[_OpenTurn] = []
    ids = CallIds()
    for number, raw in enumerate(listed):
        where = f"contents[{number}]"
        given = members(raw, where)
        role = _role(take_text(given, "role", f"{where}."), where)
        if not turns or turns[-1].role != role:
            turns.append(_OpenTurn(role))
        for place, part in enumerate(sequence(given.pop("parts", None), f"{where}.parts")):
            found, carried = read_part(part, f"{where}.parts[{place}]", ids)
            turns[-1].add(found, carried)
        turns[-1].extra |= given
    return tuple(turn for turn in map(_OpenTurn.whole, turns) if turn.parts)


def _role(said: str | None, where: str) -> str:
    role = _ROLES.get((said or "").lower())
    if role is None:
        raise BadRequest(f"{where}.role: please use a valid role: user, model")
    return role


class _OpenTurn:
    def __init__(self, role: str) -> None:
        self.role = role
        self.parts: list[AnyPart] = []
        self.extra: Members = {}

    def add(self, part: AnyPart | None, carried: tuple[Reasoning, ...]) -> None:
        # Thinking that a whole text brings came between it and what was said before.
        begins = self.role != "assistant" or (carried and part != _NOTHING)
        if part is not None and (begins or not self._joins(part)):
            self.parts.append(part)
        if carried:
            self._place(carried)

    def whole(self) -> Turn:
        said = [part for part in self.parts if part != _NOTHING]
        if self.role == "assistant":
            return Turn("assistant", tuple(said), extra=self.extra)
        results = [part for part in said if isinstance(part, ToolResult)]
        others = [part for part in said if not isinstance(part, ToolResult)]
        # An empty text is all that some clients send beside a system instruction.
        return Turn("user", (*results, *others) or tuple(self.parts[:1]), extra=self.extra)

    def _joins(self, part: AnyPart) -> bool:
        """Whether a part is the next piece of the one before it; then it is joined to that."""
        last = self.parts[-1] if self.parts else None
        if last is None or last.signature is not None or last.extra or part.extra:
            return False
        if isinstance(last, Text) and isinstance(part, Text):
            self.parts[-1] = replace(
                last, text=last.text + part.text, signature=part.signature, origin=part.origin
            )
            return True
        if isinstance(last, Reasoning) and isinstance(part, Reasoning):
            self.parts[-1] = replace(
                last, text=last.text + part.text, signature=part.signature, origin=part.origin
            )
            return True
        return False

    def _place(self, carried: tuple[Reasoning, ...]) -> None:
        """Put thinking before the part that carried it, in place of what was shown of it."""
        end = max(len(self.parts) - 1, 0)
        start = end
        while start and _is_shown(self.parts[start - 1]):
            start -= 1
        self.parts[start:end] = carried


def _is_shown(part: AnyPart) -> bool:
    return isinstance(part, Reasoning) and part.signature is None and part.sealed is None
