"""Recorded answers, whole and streamed: what the reader takes from them, and what the writer
makes of that for a client of the same format."""

import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import plain_readers
import pytest
from corpus import Item, answer, items, named, question
from gateway_format_openai_responses.grammar import GRAMMAR
from openai.types.responses import Response

from gateway_core import (
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    VendorSide,
)
from gateway_formats.fold import gather
from gateway_formats.grammar import find_violation

Json = dict[str, Any]
GOOD = [
    item
    for item in items("openai_responses")
    if item["response_status"] == 200
    and item["endpoint"].startswith("POST")
    and item["endpoint"].endswith("/responses")
    # One fixture holds a chat completion, which this endpoint does not give.
    and b'"choices"' not in answer(item)[:200]
]
WHOLE = [item for item in GOOD if not item["stream"]]
BROKEN = {"error_mid_stream", "bad_json_event"}
STREAMS = [item for item in GOOD if item["stream"] and not BROKEN & set(item["features"])]
SHORTENED = ("openai-vercelai-openai-shell-container-1-06a920",)
"""Streams whose authors took deltas out but left the whole text in."""
SHORT = sorted(STREAMS, key=lambda item: len(answer(item)))[:12]


def final(item: Item) -> Json:
    """The first final object of a recorded stream."""
    for event in plain_readers.frames(answer(item)):
        if event.get("type") in ("response.completed", "response.incomplete"):
            return dict(event["response"])
    raise LookupError(item["id"])


def read(vendor: VendorSide, chunks: list[bytes]) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [*events, *reader.close()]


def reported(part: Any) -> Any:
    """A part by its words, as a person would compare two."""
    match part:
        case Text():
            return "text", part.text, [json.loads(bytes(c.raw)) for c in part.citations if c.raw]
        case Refusal():
            return "refusal", part.text
        case Reasoning():
            return "reasoning", part.text, part.summary, part.sealed is not None
        case ToolCall():
            return "call", part.id, part.name, part.arguments, part.custom
        case Media():
            return "image", part.data
        case Foreign():
            return part.type, steady(json.loads(bytes(part.raw)))
    return part


def told_naively(item: Json) -> list[Any]:
    """The same, read from the vendor's JSON by other means."""
    kind = item["type"]
    if kind == "message":
        return [
            ("refusal", piece["refusal"])
            if piece["type"] == "refusal"
            else ("text", piece["text"], piece.get("annotations") or [])
            for piece in item["content"]
        ]
    if kind == "reasoning":
        found = []
        for name, summary in (("summary", True), ("content", False)):
            text = "\n\n".join(piece["text"] for piece in item.get(name) or ())
            if text:
                found.append(("reasoning", text, summary, bool(item.get("encrypted_content"))))
        if not found and item.get("encrypted_content"):
            found = [("reasoning", "", False, True)]
        return found
    if kind in ("function_call", "custom_tool_call"):
        custom = kind == "custom_tool_call"
        words = item["input" if custom else "arguments"]
        return [("call", item["call_id"], item["name"], words, custom)]
    if kind == "image_generation_call" and item.get("result"):
        return [("image", item["result"])]
    return [(kind, steady(item))]


def steady(item: Json) -> Json:
    """An item without what its vendor makes anew each time it tells it."""
    return {name: value for name, value in item.items() if name != "fingerprint"}


def finish(body: Json) -> str:
    reason = str((body.get("incomplete_details") or {}).get("reason"))
    if body["status"] == "incomplete":
        return {"max_output_tokens": "length"}.get(reason, reason)
    kinds = [item["type"] for item in body["output"]]
    if "function_call" in kinds or "custom_tool_call" in kinds:
        return "tool_calls"
    refusals = '"type": "refusal"' in json.dumps(body["output"])
    return "refusal" if refusals else "stop"


def counts(body: Json) -> tuple[int, ...]:
    usage = body.get("usage") or {}
    into, out = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    return (
        usage.get("input_tokens", 0),
        usage.get("output_tokens", 0),
        (into or {}).get("cached_tokens", 0),
        (out or {}).get("reasoning_tokens", 0),
    )


def check(reply: Reply, body: Json) -> None:
    choice = reply.choices[0]
    expected = [part for item in body["output"] for part in told_naively(item)]
    assert [reported(part) for part in choice.parts] == expected
    assert choice.finish == finish(body)
    assert (reply.id, reply.model) == (body["id"], body["model"])
    assert reply.created == int(body["created_at"])
    usage = reply.usage
    assert counts(body) == (
        (0, 0, 0, 0)
        if usage is None
        else (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        )
    )


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_is_what_a_naive_reading_gives(item: Item, vendor: VendorSide) -> None:
    body = answer(item)

    check(vendor.read_reply(body), json.loads(body))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_gathered_stream_is_what_its_final_object_says(item: Item, vendor: VendorSide) -> None:
    body = final(item)
    events = read(vendor, [answer(item)])

    reply = gather(events)

    if item["id"] in SHORTENED:
        body["output"][-1]["content"][0]["text"] = "The command ran successfully."
    if item["vendor"] == "github_copilot":  # whose ids change from event to event
        body["id"] = reply.id
    check(reply, body)
    check_order(events)


def check_order(events: list[StreamEvent]) -> None:
    """Parts start in order, grow only while they are open, and all end."""
    opened: set[int] = set()
    started = 0
    for event in events:
        match event:
            case PartStarted(index):
                assert index == started
                opened.add(index)
                started += 1
            case PartGrew(index):
                assert index in opened
            case PartEnded(index):
                opened.remove(index)
    assert not opened


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_however_a_stream_is_cut_the_events_are_the_same(item: Item, vendor: VendorSide) -> None:
    whole, chance = answer(item), random.Random(item["id"])
    places = sorted(chance.sample(range(len(whole)), k=min(40, len(whole) - 1)))
    chunks = [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]

    assert plain(read(vendor, chunks)) == plain(read(vendor, [whole]))


@pytest.mark.parametrize("item", SHORT, ids=named)
def test_a_stream_may_come_byte_by_byte(item: Item, vendor: VendorSide) -> None:
    whole = answer(item)
    single = [whole[place : place + 1] for place in range(len(whole))]

    assert plain(read(vendor, single)) == plain(read(vendor, [whole]))


def plain(events: list[StreamEvent]) -> Any:
    return [raw(event) for event in events]


def raw(value: Any) -> Any:
    """A value whose undecoded JSON can be compared."""
    if isinstance(value, msgspec.Raw):
        return bytes(value)
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, {n: raw(getattr(value, n)) for n in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: raw(inner) for name, inner in value.items()}
    return [raw(inner) for inner in value] if isinstance(value, list | tuple) else value


def asked_in(item: Item, client: ClientSide, call: Callable[..., Any]) -> Conversation:
    body = question(item)
    if body is None:
        return Conversation(model="m")
    return client.read_request(call(body, stream=bool(item["stream"])))


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_an_answer_that_is_written_again_says_the_same_to_the_library(
    item: Item,
    client: ClientSide,
    vendor: VendorSide,
    call: Callable[..., Any],
    parse: Callable[..., Response],
) -> None:
    reply = vendor.read_reply(answer(item))

    written = client.write_reply(reply, asked_in(item, client, call), Losses())

    parsed = parse(written, strict=is_ours(reply))
    assert parsed.output_text == parse(answer(item), strict=False).output_text
    again = vendor.read_reply(written)
    assert [told_again(part) for part in again.choices[0].parts] == [
        told_again(part) for part in reply.choices[0].parts
    ]
    assert again.choices[0].finish == reply.choices[0].finish
    assert (again.usage, again.model) == (reply.usage, reply.model)


def is_ours(reply: Reply) -> bool:
    """Whether every item is written by us and none is a vendor's own, passed on as it came."""
    parts = reply.choices[0].parts
    return not any(isinstance(p, Foreign) or (isinstance(p, Text) and p.citations) for p in parts)


def told_again(part: Any) -> Any:
    """As ``told``; thinking comes back with a seal whether it had one or not."""
    return reported(part)[:3] if isinstance(part, Reasoning) else reported(part)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_that_is_written_again_says_the_same_to_the_library(
    item: Item,
    client: ClientSide,
    vendor: VendorSide,
    call: Callable[..., Any],
    by_library: Callable[..., Response],
    parse: Callable[..., Response],
) -> None:
    events, received = read(vendor, [answer(item)]), asked_in(item, client, call)
    writer = client.stream_writer(received, Losses())

    stream = writer.feed(events) + writer.close()

    assert find_violation(GRAMMAR, stream) is None
    reply = gather(events)
    whole = client.write_reply(reply, received, Losses())
    assert json.loads(whole) == list(plain_readers.frames(stream))[-1]["response"]
    strict = is_ours(reply)
    assert by_library(stream, strict=strict) == parse(whole, strict=strict)
    again = gather(read(vendor, [stream]))
    assert [told_again(part) for part in again.choices[0].parts] == [
        told_again(part) for part in reply.choices[0].parts
    ]


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_an_answer_in_another_format_reads_the_same_naively(
    item: Item, client: ClientSide, vendor: VendorSide
) -> None:
    events = read(vendor, [answer(item)])
    writer = client.stream_writer(Conversation(model="m"), Losses())

    stream = b"".join(writer.feed([event]) for event in events) + writer.close()

    expected = plain_readers.response_outcome(final(item))
    if item["id"] in SHORTENED:
        expected.text = "The command ran successfully."
    assert plain_readers.responses_stream(stream) == expected


def test_a_broken_recording_ends_in_a_failure(vendor: VendorSide) -> None:
    broken = [item for item in GOOD if BROKEN & set(item["features"])]
    assert len(broken) == 2

    for item in broken:
        with pytest.raises(UpstreamError):
            gather(read(vendor, [answer(item)]))


def test_a_completion_in_place_of_an_answer_is_refused(vendor: VendorSide) -> None:
    odd = [item for item in items("openai_responses") if b'"choices"' in answer(item)[:200]]
    assert odd

    for item in odd:
        with pytest.raises(UpstreamError, match="could not be read"):
            vendor.read_reply(answer(item))
