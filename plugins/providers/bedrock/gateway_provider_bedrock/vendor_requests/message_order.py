"""The order of messages that Converse insists on.

Messages alternate and begin with the user; the results of calls stand first in
the message after them, one for each call. What breaks these rules is repaired:
a missing result becomes an error, a result without its call becomes text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from .._answer import SERVER_TOOL
from .media import Block

Role = Literal["user", "assistant"]

OPENING = "Continue."
"""What the user says where the user must speak and did not."""
_NO_RESULT = "This tool call was interrupted before it gave a result."
# https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
_MOST_POINTS = 4


@dataclass(slots=True)
class Message:
    role: Role
    content: list[Block] = field(default_factory=list)

    def members(self) -> dict[str, Any]:
        return {"role": self.role, "content": self.content}


def arrange(messages: Iterable[Message], *, statuses: bool) -> list[Message]:
    """The messages in an order the vendor takes."""
    merged = _merge(messages)
    # A conversation must start with a user message:
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    if not merged or merged[0].role == "assistant":
        merged.insert(0, Message("user", [{"text": OPENING}]))
    if merged[-1].role == "assistant":
        merged.append(Message("user"))
    awaited: list[str] = []
    for message in merged:
        if message.role == "user":
            message.content = _put_results_first(message.content, awaited, statuses)
            # A message with a document must have a text as well.
            documents = _of(message.content, "document")
            if documents and not _of(message.content, "text"):
                message.content.append({"text": documents[0]["document"]["name"]})
        else:
            message.content = _thinking_first(message.content)
            # The calls that the client answers; a server's tool has its result beside it.
            calls = (block["toolUse"] for block in _of(message.content, "toolUse"))
            awaited = [call["toolUseId"] for call in calls if call.get("type") != SERVER_TOOL]
    return merged


def _merge(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if not any("cachePoint" not in block for block in message.content):
            continue
        # Roles must alternate.
        if merged and merged[-1].role == message.role:
            merged[-1].content += message.content
        else:
            merged.append(Message(message.role, list(message.content)))
    return merged


def _put_results_first(content: list[Block], awaited: list[str], statuses: bool) -> list[Block]:
    """A user's blocks with the awaited results first, each once."""
    answers: dict[str, list[Block]] = {}
    rest: list[Block] = []
    holder = rest
    for block in content:
        id = block["toolResult"]["toolUseId"] if "toolResult" in block else None
        if id in awaited and id not in answers:
            holder = answers[id] = [block]
        elif "cachePoint" in block:
            holder.append(block)  # it belongs to the block before it
        else:
            holder = rest
            rest += [block] if id is None else _as_text(block["toolResult"]["content"])
    results = [block for id in awaited for block in answers.get(id) or [_missing(id, statuses)]]
    return [*results, *rest] or [{"text": OPENING}]


def _missing(id: str, statuses: bool) -> Block:
    result: Block = {"toolUseId": id, "content": [{"text": _NO_RESULT}]}
    return {"toolResult": {**result, "status": "error"} if statuses else result}


def _as_text(content: list[Block]) -> list[Block]:
    """A result whose call is not there, as what it says."""
    blocks = [block for block in content if "json" not in block]
    return blocks or [{"text": msgspec.json.encode(content).decode()}]


def _thinking_first(content: list[Block]) -> list[Block]:
    """The thinking that led to the first call, in front of the words beside it."""
    call = next((i for i, block in enumerate(content) if "toolUse" in block), len(content))
    before = content[:call]
    thinking = [block for block in before if "reasoningContent" in block]
    return [*thinking, *(block for block in before if block not in thinking), *content[call:]]


def limit_cache_points(groups: Iterable[list[Block]]) -> bool:
    """Take away the earliest cache points beyond the limit, in place; whether there were any."""
    points = [(group, block) for group in groups for block in group if "cachePoint" in block]
    beyond = points[: max(0, len(points) - _MOST_POINTS)]
    for group, block in beyond:
        group.remove(block)
    return bool(beyond)


def _of(content: list[Block], kind: str) -> list[Block]:
    return [block for block in content if kind in block]
