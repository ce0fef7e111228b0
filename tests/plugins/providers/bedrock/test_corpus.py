"""Recorded traffic of Converse, against a naive reading of the same JSON."""

import random
from typing import Any

import msgspec
import pytest
from botocore.eventstream import EventStreamBuffer
from corpus import Item, answer, items, named

from gateway_core import (
    Call,
    Foreign,
    Kind,
    Reasoning,
    Reply,
    ReplyFailed,
    Target,
    Text,
    ToolCall,
    UpstreamError,
    VendorSide,
)
from gateway_formats.fold import gather

ITEMS = items("bedrock_converse")
GOOD = [item for item in ITEMS if item["response_status"] == 200]
STREAMS = [item for item in GOOD if item["stream"]]
ERRORS = [item for item in ITEMS if item["response_status"] != 200]


def is_whole(item: Item) -> bool:
    """Whether a recorded answer is one: a curated one without an output is a part of one."""
    return b'"output"' in answer(item)


WHOLE = [item for item in GOOD if not item["stream"] and is_whole(item)]


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(STREAMS) + len(WHOLE) + len(ERRORS) == len(ITEMS) == 93


def rows(item: Item) -> list[tuple[str, Any]]:
    """The events of a stream, read by the vendor's own decoder where they are binary."""
    if item["response_body_encoding"] == "base64":
        buffer = EventStreamBuffer()
        buffer.add_data(answer(item))
        return [(m.headers[":event-type"], msgspec.json.decode(m.payload)) for m in buffer]
    lines = [msgspec.json.decode(line) for line in answer(item).splitlines() if line.strip()]
    return [pair for line in lines for pair in line.items()]


def wire(item: Item, framed: Any) -> bytes:
    """A stream as it was on the wire; decoded events are framed again."""
    return answer(item) if item["response_body_encoding"] == "base64" else framed(*rows(item))


def folded(item: Item) -> dict[str, Any]:
    """A recorded stream as the whole answer that it amounts to, read as plainly as can be."""
    blocks: dict[int, dict[str, Any]] = {}
    body: dict[str, Any] = {}
    for name, row in rows(item):
        at = row.get("contentBlockIndex", 0)
        if name == "contentBlockStart":
            blocks[at] = {kind: dict(held) for kind, held in row["start"].items()}
        elif name == "contentBlockDelta":
            grow(blocks.setdefault(at, {}), row["delta"])
        elif name == "messageStop":
            body |= row
        elif name == "metadata":
            body["usage"] = row["usage"]
    content = [closed(blocks[at]) for at in sorted(blocks)]
    return {**body, "output": {"message": {"role": "assistant", "content": content}}}


def grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    ((kind, piece),) = delta.items()
    if kind == "text":
        block["text"] = block.get("text", "") + piece
    elif kind == "toolUse":
        held = block["toolUse"]
        held["input"] = held.get("input", "") + piece["input"]
    elif kind == "toolResult":
        block["toolResult"].setdefault("content", []).extend(piece)
    elif kind == "citation":
        block.setdefault("citations", []).append(piece)
    else:
        held = block.setdefault("reasoningContent", {})
        for name, text in piece.items():
            held[name] = held.get(name, "") + text


def closed(block: dict[str, Any]) -> dict[str, Any]:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"toolUse": {**use, "input": msgspec.json.decode(use.get("input") or "{}")}}
    if "citations" in block:
        content = [{"text": block["text"]}] if "text" in block else []
        return {"citationsContent": {"content": content, "citations": block["citations"]}}
    thinking = block.get("reasoningContent", {})
    if "text" in thinking or "signature" in thinking:
        output = {"text": thinking.get("text", ""), "signature": thinking.get("signature")}
        return {"reasoningContent": {"reasoningText": output}}
    return block


FINISHES = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "guardrail_intervened": "content_filter",
}


def naive(body: dict[str, Any]) -> dict[str, Any]:
    content, usage = body["output"]["message"]["content"], body.get("usage", {})
    calls = [b["toolUse"] for b in content if "toolUse" in b]
    own = [call for call in calls if call.get("type") != "server_tool_use"]
    read, kept = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
    whole, written = usage.get("inputTokens", 0) + read + kept, usage.get("outputTokens", 0)
    return {
        "text": "".join(block_text(block) for block in content),
        "calls": [(call["toolUseId"], call["name"], call["input"]) for call in own],
        "thinking": [
            thinking_of(b["reasoningContent"]) for b in content if "reasoningContent" in b
        ],
        "citations": [
            (row.get("title"), "".join(piece["text"] for piece in row.get("sourceContent", [])))
            for block in content
            for row in block.get("citationsContent", {}).get("citations", ())
        ],
        "server": sum("toolResult" in block for block in content) + len(calls) - len(own),
        "finish": FINISHES.get(body["stopReason"], "stop"),
        "usage": (whole, written, read, kept),
    }


def block_text(block: dict[str, Any]) -> str:
    pieces = block.get("citationsContent", {}).get("content", ())
    return block.get("text", "") + "".join(piece["text"] for piece in pieces)


def thinking_of(block: dict[str, Any]) -> tuple[str, str | None, str | None]:
    output = block.get("reasoningText", {})
    return output.get("text", ""), output.get("signature"), block.get("redactedContent")


def output(reply: Reply) -> dict[str, Any]:
    (choice,) = reply.choices
    parts, usage = choice.parts, reply.usage
    texts = [part for part in parts if isinstance(part, Text)]
    return {
        "text": "".join(text.text for text in texts),
        "calls": [
            (part.id, part.name, msgspec.json.decode(part.arguments))
            for part in parts
            if isinstance(part, ToolCall)
        ],
        "thinking": [
            (part.text, part.signature, part.sealed)
            for part in parts
            if isinstance(part, Reasoning)
        ],
        "citations": [(c.title, c.quote or "") for text in texts for c in text.citations],
        "server": sum(isinstance(part, Foreign) for part in parts),
        "finish": choice.finish,
        "usage": (
            (
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.cache_write_tokens,
            )
            if usage
            else (0, 0, 0, 0)
        ),
    }


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    assert output(vendor.read_reply(answer(item))) == naive(msgspec.json.decode(answer(item)))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(item: Item, read: Any, framed: Any) -> None:
    assert output(gather(read(wire(item, framed)))) == naive(folded(item))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_and_the_whole_answer_it_amounts_to_are_one(
    item: Item, read: Any, vendor: VendorSide, framed: Any
) -> None:
    streamed = gather(read(wire(item, framed)))
    whole = vendor.read_reply(msgspec.json.encode(folded(item)))

    assert normal_reply(streamed) == normal_reply(whole)


def normal_reply(reply: Reply) -> Reply:
    """A reply whose tools' arguments are spelled in one way: the stream keeps the model's."""
    (choice,) = reply.choices
    parts = tuple(
        msgspec.structs.replace(part, arguments=spelled(part.arguments))
        if isinstance(part, ToolCall)
        else msgspec.structs.replace(part, raw=msgspec.Raw(spelled(bytes(part.raw)).encode()))
        if isinstance(part, Foreign)
        else part
        for part in choice.parts
    )
    return msgspec.structs.replace(reply, choices=(msgspec.structs.replace(choice, parts=parts),))


def spelled(json: str | bytes) -> str:
    return msgspec.json.encode(msgspec.json.decode(json), order="sorted").decode()


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_is_the_same_however_it_is_cut(item: Item, read: Any, framed: Any) -> None:
    stream = wire(item, framed)
    chance = random.Random(named(item))

    for _ in range(5):
        assert read(stream, chance.sample(range(len(stream)), 20)) == read(stream)


@pytest.mark.parametrize("item", STREAMS[:3], ids=named)
def test_a_stream_is_the_same_byte_for_byte(item: Item, read: Any, framed: Any) -> None:
    stream = wire(item, framed)[:6000]

    assert read(stream, range(1, len(stream))) == read(stream)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_relay_changes_nothing(
    item: Item, vendor: VendorSide, target: Target, framed: Any
) -> None:
    call = Call(kind=Kind.LLM, format="bedrock", model="", stream=True, body=b"{}")
    relay, stream = vendor.relay(call, target, {}), wire(item, framed)
    middle = len(stream) // 2

    assert relay.feed(stream[:middle]) + relay.feed(stream[middle:]) + relay.close() == stream
    assert relay.failure is None
    counted = relay.usage.output_tokens if relay.usage else 0
    assert counted == naive(folded(item))["usage"][1]


@pytest.mark.parametrize("item", ERRORS, ids=named)
def test_a_refusal_is_read(item: Item, vendor: VendorSide) -> None:
    headers = item["response_headers"]

    error = vendor.read_error(item["response_status"], headers, answer(item))

    assert error.status == item["response_status"]
    assert error.message == msgspec.json.decode(answer(item))["message"]
    assert error.request_id == headers.get("x-amzn-requestid")


def test_a_refusal_is_no_answer(vendor: VendorSide) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(answer(ERRORS[0]))


def test_every_failure_of_a_recorded_stream_is_a_failure(read: Any, framed: Any) -> None:
    stream = wire(STREAMS[0], framed)

    for place in range(0, len(stream) - 1, 97):
        assert isinstance(read(stream[:place])[-1], ReplyFailed) or (
            place > stream.index(b"messageStop")
        )
