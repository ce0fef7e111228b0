"""The order of turns that this vendor insists on.

Turns alternate and begin with the user; the results of a turn's tool calls stand first in the
next one, each call with exactly one; ids are used once; a system turn stands only behind the user.
What breaks these rules is repaired, never dropped: a missing result becomes an error, a result
without a call becomes text.
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gateway_core import Losses

from .._dialect import Extra, OutputBlock, Role, encode

_NO_RESULT = "This tool call was interrupted before it gave a result."
_TEXT_ONLY = {"type", "text"}
OPENING = "Continue."
"""What the user says in a conversation that would otherwise not begin with the user."""


@dataclass(slots=True)
class Message:
    role: Role
    blocks: list[OutputBlock] = field(default_factory=list)
    extra: Extra = field(default_factory=dict)

    def members(self) -> dict[str, object]:
        only = self.blocks[0] if len(self.blocks) == 1 else None
        is_text = isinstance(only, dict) and only.keys() == _TEXT_ONLY
        content = only["text"] if is_text and isinstance(only, dict) else self.blocks
        return {**self.extra, "role": self.role, "content": content}


def order_messages(messages: Iterable[Message], losses: Losses) -> list[Message]:
    """The messages in an order that the vendor takes."""
    merged = _merge(message for message in messages if message.blocks)
    # Results follow their calls directly, so a system turn between them waits.
    for index in range(1, len(merged) - 1):
        before, here, after = merged[index - 1 : index + 2]
        if here.role == "system" and after.role == "user" and of_type(before.blocks, "tool_use"):
            merged[index], merged[index + 1] = after, here
            losses.add("system_turn")
    ids = CallIds()
    paired: list[Message] = []
    waiting: list[tuple[str, str]] = []
    for message in merged:
        if message.role == "user":
            message.blocks = _place_results(message.blocks, waiting, losses)
        elif waiting:
            paired.append(Message("user", [failed_result(new) for _, new in waiting]))
        waiting = ids.make_unique(message.blocks) if message.role == "assistant" else []
        paired.append(message)
    placed: list[Message] = []
    for index, message in enumerate(paired):
        if message.role == "system":
            before_role = paired[index - 1].role if index else None
            after_role = paired[index + 1].role if index + 1 < len(paired) else None
            # A system turn stands between the user and the assistant; elsewhere it is user text.
            if before_role != "user" or after_role == "user":
                losses.add("system_turn")
                texts = [block for block in message.blocks if isinstance(block, dict)]
                message = Message("user", list(texts))
        if message.blocks:
            placed.append(message)
    placed = _merge(placed)
    if not placed or placed[0].role != "user":
        placed.insert(0, Message("user", [text_block(OPENING)]))
        losses.add("added_turn")
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


def of_type(blocks: Iterable[OutputBlock], kind: str) -> list[dict[str, Any]]:
    return [block for block in blocks if isinstance(block, dict) and block["type"] == kind]


def is_thinking(block: OutputBlock) -> bool:
    return isinstance(block, dict) and block["type"] in ("thinking", "redacted_thinking")


def put_thinking_first(blocks: list[OutputBlock]) -> list[OutputBlock]:
    """The thinking that led to the first call, in front of the text that came with it."""
    # A client of another format returns thinking with the call, so behind the text; the vendor
    # wrote it first and wants it there.
    if not any(map(is_thinking, blocks)):
        return blocks
    call = next((i for i, block in enumerate(blocks) if of_type([block], "tool_use")), len(blocks))
    before = blocks[:call]
    thinking = [block for block in before if is_thinking(block)]
    return [*thinking, *(block for block in before if not is_thinking(block)), *blocks[call:]]


def _merge(messages: Iterable[Message]) -> list[Message]:
    """The messages with neighbours of one role as one."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1].blocks += message.blocks
            merged[-1].extra = {**merged[-1].extra, **message.extra}
        else:
            merged.append(Message(message.role, list(message.blocks), message.extra))
    return merged


class CallIds:
    """The ids of a conversation's calls so far."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def make_unique(self, blocks: list[OutputBlock]) -> list[tuple[str, str]]:
        """Rename calls whose id was used before; the old and the new id of each call."""
        calls: list[tuple[str, str]] = []
        for block in of_type(blocks, "tool_use"):
            old = new = str(block["id"])
            while new in self._used:
                self._used[old] += 1
                new = f"{old}_{self._used[old]}"
            self._used[new] = 1
            block["id"] = new
            calls.append((old, new))
        return calls


def _place_results(
    blocks: list[OutputBlock], waiting: list[tuple[str, str]], losses: Losses
) -> list[OutputBlock]:
    """A user turn with the results of the calls before it in front, and no others."""
    due: dict[str, deque[str]] = {}
    for old, new in waiting:
        due.setdefault(old, deque()).append(new)
    results: list[OutputBlock] = []
    others: list[OutputBlock] = []
    for block in blocks:
        if not isinstance(block, dict) or block["type"] != "tool_result":
            others.append(block)
            continue
        new_ids = due.get(str(block["tool_use_id"]))
        if new_ids:
            results.append({**block, "tool_use_id": new_ids.popleft()})
            continue
        losses.add("tool_result")
        # The content of a result whose call is unknown stays as text.
        content = block.get("content")
        if isinstance(content, list):
            others += content
        elif isinstance(content, str):
            others += [text_block(content)] if content.strip() else []
        elif content is not None:
            others.append(text_block(encode(content).decode("utf-8", "replace")))
    missing = {new for left in due.values() for new in left}
    results += (failed_result(new) for _, new in waiting if new in missing)
    return results + others
