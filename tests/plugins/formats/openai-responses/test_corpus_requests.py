"""Recorded requests: read as a client's, written again for the vendor, they say the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from corpus import Item, items, named, question

from gateway_core import BadRequest, Conversation

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[Json, list[str]]]

ALL = [
    item
    for item in items("openai_responses")
    if question(item) is not None and item["endpoint"].startswith("POST") and item["request_body"]
]
CREATED = [item for item in ALL if item["endpoint"].endswith("/responses")]
READ_BEFORE = [item for item in CREATED if item["response_status"] == 200]


def plain(value: Any) -> Any:
    """Without members that are null: the vendor takes them for absent."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if inner is not None}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def pieces(content: Any) -> list[Json]:
    """Content as an array: a string is short for one text, and an empty list says nothing."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    reported = []
    for piece in content:
        kind = "text" if piece["type"] in ("input_text", "output_text") else piece["type"]
        kept = {name: value for name, value in piece.items() if value != []}
        if kept.get("prompt_cache_breakpoint", {}).get("ttl") == "30m":
            kept["prompt_cache_breakpoint"] = {"mode": "explicit"}  # the lifetime unless said
        reported.append({**kept, "type": kind})
    return reported


def item_of(item: Json) -> Json:
    """An item without what says nothing: the vendor's ids, a status of completed."""
    kind = item.get("type") or "message"
    reported = {**item, "type": kind}
    if kind in ("message", "function_call", "function_call_output", "reasoning"):
        reported.pop("id", None)
        reported.pop("status", None)
    if kind == "message":
        reported["content"] = pieces(item["content"])
        reported["role"] = "developer" if item["role"] == "system" else item["role"]
    elif kind == "function_call_output":
        reported["output"] = pieces(item["output"])
    elif kind == "reasoning":
        for name in ("summary", "content"):
            joined = "\n\n".join(piece["text"] for piece in reported.pop(name, ()) if piece["text"])
            reported[name] = joined
    return reported


def history(body: Json) -> list[Json]:
    """Instructions and input as one list: the vendor puts instructions first, as a developer's
    message. Messages of the model that follow one another, and differ in nothing but their
    text, say the same as one."""
    found = body.get("input") or []
    if isinstance(found, str):
        found = [{"role": "user", "content": found}]
    if body.get("instructions"):
        found = [{"role": "developer", "content": body["instructions"]}, *found]
    reported: list[Json] = []
    for item in map(item_of, found):
        last = reported[-1] if reported else {}
        keys = {"type", "role", "content"}
        spoken = item.get("role") == "assistant" == last.get("role")
        if spoken and last.keys() == item.keys() == keys:
            last["content"] += item["content"]
        else:
            reported.append(item)
    return renamed(reported)


def renamed(reported: list[Json]) -> list[Json]:
    """Calls by the order they appear: what they are called is nobody's business."""
    names: dict[str, str] = {}
    for item in reported:
        if "call_id" in item and item["type"].startswith(("function_call", "custom_tool_call")):
            item["call_id"] = names.setdefault(item["call_id"], f"call {len(names)}")
    return reported


def settings_of(body: Json) -> Json:
    """Everything else; what is said by default counts as unsaid."""
    reported = {n: v for n, v in body.items() if n not in ("input", "instructions", "model")}
    # Encrypted thinking is always asked for when thinking is on.
    reported["include"] = sorted({*reported.get("include", ()), "reasoning.encrypted_content"})
    if reported.get("stream") is False:
        del reported["stream"]
    if reported.get("text") == {"format": {"type": "text"}}:
        del reported["text"]
    if "generate_summary" in reported.get("reasoning", {}):  # the older name of summary
        reported["reasoning"]["summary"] = reported["reasoning"].pop("generate_summary")
    if reported.get("tools") == []:
        del reported["tools"]
    return reported


@pytest.mark.parametrize("item", READ_BEFORE, ids=named)
def test_a_request_says_the_same_when_it_is_written_again(item: Item, ask: Ask, tell: Tell) -> None:
    body = plain(item["request_body"])

    conversation = ask(question(item), stream=bool(body.get("stream")))
    written, lost = tell(conversation)

    background = body.pop("background", False)
    assert lost == (["background"] if background else [])
    assert history(plain(written)) == history(body)
    assert settings_of(plain(written)) == settings_of(body)


def test_what_the_vendor_refused_is_refused_in_its_words(ask: Ask) -> None:
    refused = "openai-reqllm-gpt-5-codex-object-streaming-b49ebd"
    item = next(item for item in ALL if item["id"] == refused)

    with pytest.raises(BadRequest) as error:
        ask(question(item))

    assert error.value.message == json.loads(item["response_body"])["error"]["message"]


def test_the_recordings_hold_what_this_file_is_for() -> None:
    assert len(READ_BEFORE) > 200
    kinds = {
        part.get("type", "message")
        for item in READ_BEFORE
        for part in (item["request_body"].get("input") or [])
        if isinstance(part, dict)
    }
    assert {"reasoning", "function_call", "tool_search_call", "additional_tools"} <= kinds
