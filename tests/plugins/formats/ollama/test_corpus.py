"""Recorded traffic of the local model server, against a naive reading of the same JSON."""

import random
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec
import ollama
import pytest
from corpus import Item, answer, items, named, question
from gateway_format_ollama import OLLAMA

from gateway_core import (
    Call,
    ClientSide,
    Conversation,
    Kind,
    Losses,
    Reasoning,
    Reply,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    VendorSide,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

ITEMS = items("ollama_chat")
ASKED = [item for item in ITEMS if question(item) is not None]
GOOD = [i for i in ITEMS if i["response_status"] == 200 and b'"message":{"role"' in answer(i)[:600]]
COMPAT = [i for i in ITEMS if b'"chat.completion"' in answer(i)]
"""Answers of the same server's other dialect, which some client asked for on this path."""
STREAMS = [item for item in GOOD if item["stream"]]
WHOLE = [item for item in GOOD if not item["stream"] and item not in COMPAT]


def test_the_corpus_is_split_without_a_rest() -> None:
    errors = [item for item in ITEMS if item["response_status"] != 200]

    assert len(STREAMS) + len(WHOLE) + len(COMPAT) + len(errors) == len(ITEMS) == 35


def naive(item: Item) -> dict[str, Any]:
    """What an answer says, read as plainly as can be."""
    rows = [msgspec.json.decode(line) for line in answer(item).split(b"\n") if line.strip()]
    messages = [row["message"] for row in rows]
    calls = [call["function"] for m in messages for call in m.get("tool_calls") or ()]
    last = rows[-1]
    finish = {"length": "length"}.get(last["done_reason"], "tool_calls" if calls else "stop")
    return {
        "text": "".join(m.get("content") or "" for m in messages),
        "thinking": "".join(m.get("thinking") or "" for m in messages),
        "calls": [(call["name"], call["arguments"]) for call in calls],
        "finish": finish,
        "usage": (last.get("prompt_eval_count", 0), last.get("eval_count", 0)),
        "model": rows[0]["model"],
        "created": int(datetime.fromisoformat(rows[0]["created_at"]).timestamp()),
    }


def output(reply: Reply) -> dict[str, Any]:
    (choice,) = reply.choices
    calls = [part for part in choice.parts if isinstance(part, ToolCall)]
    usage = reply.usage
    return {
        "text": "".join(part.text for part in choice.parts if isinstance(part, Text)),
        "thinking": "".join(part.text for part in choice.parts if isinstance(part, Reasoning)),
        "calls": [(call.name, msgspec.json.decode(call.arguments)) for call in calls],
        "finish": choice.finish,
        "usage": (usage.input_tokens, usage.output_tokens) if usage else (0, 0),
        "model": reply.model,
        "created": reply.created,
    }


def cut(vendor: VendorSide, stream: bytes, places: list[int]) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    edges = [0, *places, len(stream)]
    events: list[StreamEvent] = []
    for start, end in pairwise(edges):
        events += reader.feed(stream[start:end])
    return [*events, *reader.close()]


def normal(body: Any, *, made: bool) -> Any:
    """A request without what has no meaning, and without what the gateway adds when ``made``.

    Empty lists, an empty ``format`` and null members say nothing. The stream
    flag is written out although true is its default, ids are made where the
    client had none, and a result repeats its tool's name.
    """
    body = {name: value for name, value in body.items() if value not in (None, "", [], {})}
    body.setdefault("stream", True)
    body["model"] = "gemma3"
    for message in body["messages"]:
        message.pop("tool_name", None)
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            if made:
                call.pop("id")
    return body


@pytest.mark.parametrize("item", ASKED, ids=named)
def test_a_request_survives_the_hub(item: Item, ask: Any, tell: Any) -> None:
    body = question(item)

    written, losses = tell(ask(body))

    assert normal(written, made=True) == normal(item["request_body"], made=False)
    assert losses == []


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    assert output(vendor.read_reply(answer(item))) == naive(item)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_a_naive_reading_says(item: Item, vendor: VendorSide) -> None:
    assert output(gather(cut(vendor, answer(item), []))) == naive(item)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_is_the_same_however_it_is_cut(item: Item, vendor: VendorSide) -> None:
    stream = answer(item)
    whole = cut(vendor, stream, [])
    chance = random.Random(named(item))

    for _ in range(5):
        places = sorted(chance.sample(range(len(stream)), 20))
        assert cut(vendor, stream, places) == whole


@pytest.mark.parametrize("item", STREAMS[:4], ids=named)
def test_a_stream_is_the_same_byte_for_byte(item: Item, vendor: VendorSide) -> None:
    stream = answer(item)[-3000:].partition(b"\n")[2]

    assert cut(vendor, stream, list(range(1, len(stream)))) == cut(vendor, stream, [])


@pytest.mark.parametrize("item", COMPAT, ids=named)
def test_an_answer_of_another_dialect_is_rubbish(item: Item, vendor: VendorSide) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(answer(item))


def test_the_recorded_error_is_read(vendor: VendorSide) -> None:
    (item,) = [item for item in ITEMS if item["response_status"] == 404]

    error = vendor.read_error(404, {}, answer(item))

    assert error.status == 404
    assert error.message == "model 'nonexistent-model:latest' not found"


def call(stream: bool) -> Call:
    return Call(kind=Kind.LLM, format="ollama", model="", stream=stream, body=b"{}")


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_relay_changes_nothing(item: Item, vendor: VendorSide, target: Target) -> None:
    stream = answer(item)
    chance = random.Random(named(item))
    relay = vendor.relay(call(stream=True), target, {})
    edges = [0, *sorted(chance.sample(range(len(stream)), 10)), len(stream)]

    passed = b"".join(relay.feed(stream[a:b]) for a, b in pairwise(edges))
    passed += relay.close()

    assert passed == stream.rstrip(b"\n") + b"\n"
    assert OLLAMA.grammar is not None
    assert find_violation(OLLAMA.grammar, passed) is None
    assert relay.started
    assert relay.failure is None
    usage = relay.usage or Usage()
    assert (usage.input_tokens, usage.output_tokens) == naive(item)["usage"]
    words = naive(item)
    assert relay.characters >= len(words["text"]) + len(words["thinking"]) > 0 or words["calls"]


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_the_relay_gives_a_whole_answer_as_it_came(
    item: Item, vendor: VendorSide, target: Target
) -> None:
    relay = vendor.relay(call(stream=False), target, {})

    assert relay.feed(answer(item)) == b""
    assert relay.close() == answer(item)
    assert relay.usage is not None
    assert (relay.usage.input_tokens, relay.usage.output_tokens) == naive(item)["usage"]


def normal_reply(reply: Reply) -> Reply:
    """A reply without its id, which this dialect makes out of model and time."""
    return msgspec.structs.replace(reply, id="")


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_rewritten_answer_is_read_the_same_and_by_the_library(
    item: Item, vendor: VendorSide, client: ClientSide
) -> None:
    reply = vendor.read_reply(answer(item))
    losses = Losses()

    written = client.write_reply(reply, Conversation(), losses)

    assert normal_reply(vendor.read_reply(written)) == normal_reply(reply)
    parsed = ollama.ChatResponse.model_validate_json(written)
    assert (parsed.message.content, parsed.message.thinking or "") == (
        naive(item)["text"],
        naive(item)["thinking"],
    )
    assert not losses


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_rewritten_stream_is_read_the_same_and_by_the_library(
    item: Item, vendor: VendorSide, client: ClientSide
) -> None:
    events = cut(vendor, answer(item), [])
    losses = Losses()
    writer = client.stream_writer(Conversation(), losses)

    written = b"".join(writer.feed([event]) for event in events) + writer.close()

    assert normal_reply(gather(cut(vendor, written, []))) == normal_reply(gather(events))
    assert OLLAMA.grammar is not None
    assert find_violation(OLLAMA.grammar, written) is None
    rows = [ollama.ChatResponse.model_validate_json(r) for r in written.decode().splitlines()]
    assert "".join(row.message.content or "" for row in rows) == naive(item)["text"]
    assert rows[-1].done
    assert not losses


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_streams_to_the_same_reply(item: Item, vendor: VendorSide) -> None:
    """One line with ``done`` is a stream of one line."""
    streamed = gather(cut(vendor, answer(item), []))

    assert streamed == vendor.read_reply(answer(item))
    assert gather(unfold(streamed)) == streamed
