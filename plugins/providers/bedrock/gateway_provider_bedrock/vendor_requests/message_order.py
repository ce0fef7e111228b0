"""The order of messages that Converse insists on.

Messages alternate and begin with the user; the results of calls stand first in
the message after them, one for each call. What breaks these rules is repaired:
a missing result becomes an error, a result without its call becomes text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from gateway_core import Losses

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


def arrange(messages: Iterable[Message], losses: Losses, *, statuses: bool) -> list[Message]:
    """The messages in an order the vendor takes; a turn that has to be made up is a change."""
    merged: list[Message] = []
    for message in messages:
        if all("cachePoint" in block for block in message.content):
            continue
        # Roles must alternate.
        if merged and merged[-1].role == message.role:
            merged[-1].content += message.content
        else:
            merged.append(Message(message.role, list(message.content)))
    # A conversation must start with a user message:
    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    if not merged or merged[0].role == "assistant":
        merged.insert(0, Message("user", [{"text": OPENING}]))
        losses.add("added_turn")
    if merged[-1].role == "assistant":
        losses.add("added_turn")
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
            # Thinking that led to the first call stands in front of the text beside it.
            content = message.content
            first = next((i for i, block in enumerate(content) if "toolUse" in block), len(content))
            content[:first] = sorted(
                content[:first], key=lambda block: "reasoningContent" not in block
            )
            # The calls that the client answers; a server's tool has its result beside it.
            calls = (block["toolUse"] for block in _of(message.content, "toolUse"))
            awaited = [call["toolUseId"] for call in calls if call.get("type") != SERVER_TOOL]
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
            if id is None:
                rest.append(block)
            else:
                # A result whose call is not there is sent as its content.
                inner = block["toolResult"]["content"]
                plain = [each for each in inner if "json" not in each]
                rest += plain or [{"text": msgspec.json.encode(inner).decode()}]
    results: list[Block] = []
    for id in awaited:
        missing: Block = {"toolUseId": id, "content": [{"text": _NO_RESULT}]}
        if statuses:
            missing["status"] = "error"
        results += answers.get(id) or [{"toolResult": missing}]
    return [*results, *rest] or [{"text": OPENING}]


def limit_cache_points(groups: Iterable[list[Block]]) -> bool:
    """Take away the earliest cache points beyond the limit, in place; whether there were any."""
    points = [(group, block) for group in groups for block in group if "cachePoint" in block]
    beyond = points[: max(0, len(points) - _MOST_POINTS)]
    for group, block in beyond:
        group.remove(block)
    return bool(beyond)


def _of(content: list[Block], kind: str) -> list[Block]:
    return [block for block in content if kind in block]
