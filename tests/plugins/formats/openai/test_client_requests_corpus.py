"""Recorded requests: read into the hub and written again, they say what they said.

``normal`` takes away only what carries no meaning, or what this gateway changes
on purpose: nulls and defaults, the spelling of one thing in several ways, and
the split of plain text into pieces.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from corpus import Item, items, named, question
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Call,
    ClientSide,
    Conversation,
    Losses,
    Target,
    Text,
    VendorSide,
)

ITEMS = items("openai_chat")
ASKED = [item for item in ITEMS if question(item) is not None]
OLDER = [item for item in items("openai_completions") if question(item) is not None]

OPTIONS: dict[str, dict[str, str | bool]] = {
    "openrouter": {
        "reasoning": "openrouter",
        "reasoning_content": "reasoning_details",
        "documents": "file_or_url",
    },
    "snowflake": {"reasoning_content": "reasoning_details"},
    "deepseek": {"reasoning": "thinking+effort", "reasoning_content": True},
    "moonshot": {"reasoning": "thinking", "reasoning_content": True},
    "zai": {"reasoning": "thinking", "reasoning_content": True},
    "ollama": {"reasoning": "enable_thinking", "reasoning_content": True},
    "ollama_cloud": {"reasoning_content": True},
    "gpustack": {"reasoning": "enable_thinking", "reasoning_content": "reasoning"},
    "alibaba": {"reasoning": "enable_thinking", "reasoning_content": True},
    "crusoe": {"reasoning_content": "reasoning"},
    "cerebras": {"reasoning_content": "reasoning"},
    "mistral": {"reasoning_content": "content", "documents": "document_url"},
    "perplexity": {"documents": "file_url"},
}
"""What the vendors' own declarations would say."""

THINKING = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget")
PLAIN = ("text", "type")


def normal(body: dict[str, Any]) -> dict[str, Any]:
    output = {name: value for name, value in without_nulls(body).items() if name != "model"}
    if output.pop("stream", False):
        output["stream_options"] = {**output.get("stream_options", {}), "include_usage": True}
    else:
        output.pop("stream_options", None)
    older = output.pop("max_tokens", None)
    output.setdefault("max_completion_tokens", older)
    output["thinking"] = thinking({name: output.pop(name, None) for name in THINKING})
    stop = output.pop("stop", None)
    output["stop"] = ([stop] if isinstance(stop, str) else stop) or None
    if output.get("response_format") == {"type": "text"}:
        del output["response_format"]
    form = output.get("response_format", {}).get("json_schema")
    if form:
        form.setdefault("name", "response")
    functions = [{"type": "function", "function": f} for f in output.pop("functions", [])]
    output["tools"] = [tool(t) for t in [*output.get("tools", []), *functions]]
    output["tool_choice"] = choice(output.get("tool_choice") or output.pop("function_call", None))
    output["parallel_tool_calls"] = output.get("parallel_tool_calls", False if functions else None)
    if not output["tools"]:
        del output["tools"], output["tool_choice"], output["parallel_tool_calls"]
    output["messages"] = messages(output["messages"])
    tidied: dict[str, Any] = without_nulls(output)
    return tidied


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(v) for name, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def thinking(received: dict[str, Any]) -> dict[str, Any] | None:
    """Effort, budget and switch, wherever they were said."""
    objects = [value for value in received.values() if isinstance(value, dict)]

    def first(*names: str) -> Any:
        found = [received.get(name) for name in names]
        found += [value.get(name) for value in objects for name in names]
        return next((v for v in found if v is not None and not isinstance(v, dict)), None)

    kind = first("type")
    switch = first("enabled", "enable_thinking")
    effort = first("reasoning_effort", "effort")
    rest = {k: v for o in objects for k, v in o.items() if k == "clear_thinking"}
    enabled = switch if switch is not None else (None if kind is None else kind == "enabled")
    if effort is not None and effort != "none":
        enabled = None  # an effort is a switch too
    budget = first("max_tokens", "budget_tokens", "thinking_budget")
    output = {"effort": effort, "budget": budget, "enabled": enabled, **rest}
    return without_nulls(output) or None


def tool(output: dict[str, Any]) -> dict[str, Any]:
    output = {"type": "function", **output}
    if output["type"] == "function":
        function = {"parameters": {"type": "object", "properties": {}}, **output["function"]}
        output["function"] = function
    return cache(output)


def choice(output: Any) -> Any:
    if isinstance(output, dict):
        return output.get("name") or output["function"]["name"]
    return {"any": "required"}.get(output, output)


def cache(output: dict[str, Any]) -> dict[str, Any]:
    control = output.get("cache_control")
    if control and control.get("ttl") == "5m":
        output["cache_control"] = {"type": "ephemeral"}
    return output


def messages(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = [message(row, index, output) for index, row in enumerate(output)]
    count = next((i for i, row in enumerate(rows) if row["role"] != "system"), len(rows))
    if count:
        pieces = [piece for row in rows[:count] for piece in row["content"]]
        rows[:count] = [{"role": "system", "content": joined(pieces, "\n\n")}]
    return numbered(rows)


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls and their results by number, since ids may be replaced by shorter ones."""
    numbers: dict[str, int] = {}
    for row in rows:
        for call in row.get("tool_calls", []):
            call["id"] = numbers.setdefault(call["id"], len(numbers))
        if row["role"] == "tool":
            row["tool_call_id"] = numbers[row["tool_call_id"]]
    return rows


def message(output: dict[str, Any], index: int, others: list[dict[str, Any]]) -> dict[str, Any]:
    row = dict(output)
    row["role"] = {"developer": "system", "function": "tool"}.get(row["role"], row["role"])
    content = row.get("content") or []
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content
    gap = "" if row["role"] == "assistant" else "\n\n"
    row["content"] = joined([tidy(piece) for piece in pieces], gap)
    if "function_call" in row:
        row["tool_calls"] = [{"id": f"call_{index}_0", "function": row.pop("function_call")}]
    for number, call in enumerate(row.get("tool_calls") or []):
        call.pop("index", None)
        call.setdefault("type", "function")
        call["id"] = call.get("id") or f"call_{index}_{number}"
    if not row.get("tool_calls"):
        row.pop("tool_calls", None)
    if row["role"] == "tool" and "tool_call_id" not in row:
        calls = others[index - 1].get("tool_calls")
        row["tool_call_id"] = calls[0]["id"] if calls else f"call_{index - 1}_0"
    history(row)
    return row


def tidy(piece: dict[str, Any]) -> dict[str, Any]:
    """An address that stands alone is one in an object; thinking is one text."""
    if isinstance(piece.get("image_url"), str):
        piece["image_url"] = {"url": piece["image_url"]}
    if piece["type"] == "thinking":
        text = "".join(inner["text"] for inner in piece["thinking"])
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
    return cache(piece)


def joined(pieces: list[dict[str, Any]], gap: str) -> list[dict[str, Any]]:
    """Plain text in one piece; any other piece keeps the list as it is."""
    if all(tuple(sorted(piece)) == PLAIN and piece["type"] == "text" for piece in pieces):
        text = gap.join(piece["text"] for piece in pieces if piece["text"])
        return [{"type": "text", "text": text}] if text else []
    return pieces


def history(row: dict[str, Any]) -> None:
    """Thinking sent back: the details say it all; else whichever member holds the text."""
    plain = row.pop("reasoning_content", None) or row.get("reasoning")
    row.pop("reasoning", None)
    if not row.get("reasoning_details") and plain and plain.strip():
        row["thinking"] = plain


@pytest.mark.parametrize("item", ASKED, ids=named)
def test_a_request_is_the_same_after_the_hub(
    client: ClientSide,
    vendor: VendorSide,
    call: Callable[..., Call],
    aim: Callable[..., Target],
    item: Item,
) -> None:
    body = item["request_body"]
    target = with_options(aim(item.get("model") or "m"), item["vendor"])
    losses = Losses()

    conversation = client.read_request(call(question(item), stream=bool(body.get("stream"))))
    written = msgspec.json.decode(vendor.write_request(conversation, target, losses))

    assert normal(written) == normal(msgspec.json.decode(question(item) or b""))
    assert not losses


def with_options(target: Target, vendor: str) -> Target:
    return Target(replace(target.provider, options=OPTIONS.get(vendor, {})), target.model)


@pytest.mark.parametrize("item", ASKED, ids=named)
def test_what_was_written_is_read_as_the_same_conversation(
    client: ClientSide,
    vendor: VendorSide,
    call: Callable[..., Call],
    aim: Callable[..., Target],
    item: Item,
) -> None:
    target = with_options(aim("m-1"), item["vendor"])

    def again(raw: bytes) -> tuple[Conversation, bytes]:
        conversation = client.read_request(call(raw))
        return conversation, vendor.write_request(conversation, target, Losses())

    _, once = again(question(item) or b"")
    first, twice = again(once)
    second, _ = again(twice)

    assert twice == once
    assert first == second


@pytest.mark.parametrize("item", OLDER, ids=named)
def test_an_older_request_is_one_prompt_or_refused(
    older_client: ClientSide, call: Callable[..., Call], item: Item
) -> None:
    prompt = item["request_body"]["prompt"]
    one = prompt if isinstance(prompt, str) else prompt[0]
    received = call(question(item))
    if not isinstance(one, str):
        with pytest.raises(BadRequest, match="Invalid prompt"):
            older_client.read_request(received)
        return

    conversation = older_client.read_request(received)

    assert conversation.turns[0].parts == (Text(text=one),)
    assert conversation.sampling.max_tokens == item["request_body"].get("max_tokens")
