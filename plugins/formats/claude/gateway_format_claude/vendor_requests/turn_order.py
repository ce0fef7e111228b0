"""The order of turns this vendor insists on.

Turns alternate and begin with the user; the results of a turn's tool calls
stand first in the next one, each call with exactly one; ids are used once; a
system turn stands only behind the user. What breaks these rules is repaired,
never dropped: a missing result becomes an error, a result without a call
becomes text.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gateway_core import Losses

from .._dialect import Block, Extra, Role, encode

_NO_RESULT = "This tool call was interrupted before it gave a result."
_PLAIN = {"type", "text"}
OPENING = "Continue."
"""What the user says in a conversation that would otherwise not begin with the user."""


@dataclass(slots=True)
class Message:
    role: Role
    blocks: list[Block] = field(default_factory=list)
    extra: Extra = field(default_factory=dict)

    def members(self) -> dict[str, object]:
        only = self.blocks[0] if len(self.blocks) == 1 else None
        is_plain = isinstance(only, dict) and only.keys() == _PLAIN
        content = only["text"] if is_plain and isinstance(only, dict) else self.blocks
        return {**self.extra, "role": self.role, "content": content}


def arranged(messages: Iterable[Message], losses: Losses) -> list[Message]:
    """The messages in an order the vendor takes."""
    merged = _merged(message for message in messages if message.blocks)
    paired = _paired(_calls_before_system(merged), losses)
    placed = _merged(m for m in _placed(paired, losses) if m.blocks)
    if not placed or placed[0].role != "user":
        placed.insert(0, Message("user", [text_block(OPENING)]))
    return placed


def text_block(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def failed_result(call_id: str) -> dict[str, object]:
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": _NO_RESULT,
        "is_error": True,
    }


def of_type(blocks: Iterable[Block], kind: str) -> list[dict[str, Any]]:
    return [block for block in blocks if isinstance(block, dict) and block["type"] == kind]


def is_thinking(block: Block) -> bool:
    return isinstance(block, dict) and block["type"] in ("thinking", "redacted_thinking")


def thinking_first(blocks: list[Block]) -> list[Block]:
    """The thinking that led to the first call, in front of the text that came with it.

    A client of another format returns thinking with the call, so behind the
    text; the vendor wrote it first and wants it there.
    """
    if not any(map(is_thinking, blocks)):
        return blocks
    call = next((i for i, block in enumerate(blocks) if of_type([block], "tool_use")), len(blocks))
    before = blocks[:call]
    thinking = [block for block in before if is_thinking(block)]
    return [*thinking, *(block for block in before if not is_thinking(block)), *blocks[call:]]


def _merged(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1].blocks += message.blocks
            merged[-1].extra = {**merged[-1].extra, **message.extra}
        else:
            merged.append(Message(message.role, list(message.blocks), message.extra))
    return merged


def _calls_before_system(messages: list[Message]) -> list[Message]:
    """Results follow their calls directly, so a system turn between them waits."""
    for index in range(1, len(messages) - 1):
        before, here, after = messages[index - 1 : index + 2]
        if here.role == "system" and after.role == "user" and of_type(before.blocks, "tool_use"):
            messages[index], messages[index + 1] = after, here
    return messages


def _paired(messages: list[Message], losses: Losses) -> list[Message]:
    ids = _Ids()
    paired: list[Message] = []
    waiting: list[tuple[str, str]] = []
    for message in messages:
        if message.role == "user":
            message.blocks = _with_results(message.blocks, waiting, losses)
        elif waiting:
            paired.append(Message("user", [failed_result(new) for _, new in waiting]))
        waiting = ids.told_apart(message.blocks) if message.role == "assistant" else []
        paired.append(message)
    return paired


class _Ids:
    """The ids of a conversation's calls so far."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def told_apart(self, blocks: list[Block]) -> list[tuple[str, str]]:
        """Rename calls whose id was used before; gives the old and the new id of each call."""
        calls: list[tuple[str, str]] = []
        for block in of_type(blocks, "tool_use"):
            old = str(block["id"])
            block["id"] = new = self._fresh(old)
            calls.append((old, new))
        return calls

    def _fresh(self, call_id: str) -> str:
        fresh = call_id
        while fresh in self._used:
            self._used[call_id] += 1
            fresh = f"{call_id}_{self._used[call_id]}"
        self._used[fresh] = 1
        return fresh


def _with_results(
    blocks: list[Block], waiting: list[tuple[str, str]], losses: Losses
) -> list[Block]:
    """The turn with the results that were waited for in front, and no others."""
    due: dict[str, deque[str]] = {}
    for old, new in waiting:
        due.setdefault(old, deque()).append(new)
    results: list[Block] = []
    others: list[Block] = []
    for block in blocks:
        if not isinstance(block, dict) or block["type"] != "tool_result":
            others.append(block)
        elif due.get(str(block["tool_use_id"])):
            results.append({**block, "tool_use_id": due[str(block["tool_use_id"])].popleft()})
        else:
            losses.add("tool_result")
            others += _as_text(block)
    missing = {new for left in due.values() for new in left}
    results += (failed_result(new) for _, new in waiting if new in missing)
    return results + others


def _as_text(block: dict[str, object]) -> list[Block]:
    """The content of a result whose call is unknown."""
    content = block.get("content")
    if isinstance(content, list):
        return content
    if isinstance(content, str):
        return [text_block(content)] if content.strip() else []
    return [] if content is None else [text_block(encode(content).decode("utf-8", "replace"))]


def _placed(messages: list[Message], losses: Losses) -> Iterable[Message]:
    """A system turn stays one between the user and the assistant; elsewhere it is user text."""
    for index, message in enumerate(messages):
        if message.role != "system":
            yield message
            continue
        before = messages[index - 1].role if index else None
        after = messages[index + 1].role if index + 1 < len(messages) else None
        if before == "user" and after != "user":
            yield message
        else:
            losses.add("system_turn")
            yield Message("user", [block for block in message.blocks if isinstance(block, dict)])
