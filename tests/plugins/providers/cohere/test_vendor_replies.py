"""Cohere's answers, whole and streamed, where the recordings do not reach."""

from typing import Any

import msgspec
import pytest
from gateway_provider_cohere import CHAT
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import (
    Call,
    ChoiceEnded,
    Citation,
    CitationAdded,
    Kind,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    Target,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather


def frames(*events: Any) -> bytes:
    """Events as Cohere sends them; a string is data as it stands."""
    rows = (e if isinstance(e, str) else msgspec.json.encode(e).decode() for e in events)
    return "".join(f"data: {row}\n\n" for row in rows).encode()


def event(type: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"type": type}
    if index is not None:
        row["index"] = index
    if message:
        row["delta"] = {"message": message}
    return row


def end(reason: str = "COMPLETE", **members: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": reason, **members}}


START = {"type": "message-start", "id": "r1", "delta": {"message": {"role": "assistant"}}}
CITED = {"start": 0, "end": 2, "text": "Hi", "sources": [{"type": "document", "id": "doc:3"}]}


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
USAGE = {"tokens": {"input_tokens": 5.0, "output_tokens": 7}}
STREAM = frames(
    START,
    event("tool-plan-delta", tool_plan="Plan"),
    event("content-start", 0, content={"type": "thinking", "thinking": ""}),
    event("content-delta", 0, content={"thinking": "Hm"}),
    event("content-end", 0),
    event("content-start", 1, content={"type": "text", "text": ""}),
    event("content-delta", 1, content={"text": "Hi"}),
    event("content-end", 1),
    event("citation-start", 0, citations={**CITED, "content_index": 1}),
    event("citation-end", 0),
    event("debug"),
    event("tool-call-start", 0, tool_calls=CALL),
    event("tool-call-delta", 0, tool_calls={"function": {"arguments": '{"a":'}}),
    event("tool-call-delta", 0, tool_calls={"function": {"arguments": "1}"}}),
    event("tool-call-end", 0),
    end("TOOL_CALL", usage=USAGE),
    "[DONE]",
    "nothing reads this",
)


def test_events_come_in_the_promised_order(read: Any) -> None:
    assert read(STREAM) == [
        ReplyStarted("r1", ""),
        PartStarted(0, Reasoning()),
        PartGrew(0, "Plan"),
        PartEnded(0),
        PartStarted(1, Reasoning()),
        PartGrew(1, "Hm"),
        PartEnded(1),
        PartStarted(2, Text(text="")),
        PartGrew(2, "Hi"),
        CitationAdded(2, Citation(start=0, end=2, document=3)),
        PartEnded(2),
        PartStarted(3, ToolCall(id="c1", name="f")),
        PartGrew(3, '{"a":'),
        PartGrew(3, "1}"),
        PartEnded(3),
        UsageReported(Usage(input_tokens=5, output_tokens=7)),
        ChoiceEnded("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("source", "citation"),
    [
        (
            {"id": "doc:0", "document": {"title": "T", "text": "W", "url": "http://x"}},
            Citation(url="http://x", title="T", quote="W", start=0, end=2, document=0),
        ),
        ({"id": "t:0", "tool_output": {"snippet": "S"}}, Citation(quote="S", start=0, end=2)),
        ({"id": "t:0", "tool_output": {"text": 7}}, Citation(start=0, end=2)),
        ({"tool_output": "plain"}, Citation(start=0, end=2)),
    ],
)
def test_a_citation_knows_its_source(vendor: VendorSide, source: Any, citation: Citation) -> None:
    body = {
        "id": "r1",
        "message": {
            "content": [{"type": "text", "text": "Hi"}],
            "citations": [{**CITED, "sources": [source]}],
        },
    }

    (part,) = vendor.read_reply(msgspec.json.encode(body)).choices[0].parts

    assert part == Text(text="Hi", citations=(citation,))


def test_a_citation_stands_at_the_text_that_it_names(vendor: VendorSide) -> None:
    texts = [{"type": "text", "text": "Hi"}, {"type": "text", "text": "Ho"}]
    rows = [CITED, {**CITED, "content_index": 1}, {**CITED, "type": "PLAN"}]
    body = {"id": "r1", "message": {"content": texts, "citations": rows}}

    parts = vendor.read_reply(msgspec.json.encode(body)).choices[0].parts

    assert [len(part.citations) for part in parts if isinstance(part, Text)] == [1, 1]


@pytest.mark.parametrize("arguments", ["", "null", None])
def test_no_arguments_are_an_empty_object(
    vendor: VendorSide, read: Any, arguments: str | None
) -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": arguments}}
    body = {"id": "r1", "message": {"tool_calls": [call]}, "finish_reason": "TOOL_CALL"}
    stream = frames(START, event("tool-call-start", 0, tool_calls=call), end("TOOL_CALL"))

    reply = vendor.read_reply(msgspec.json.encode(body))

    assert reply.choices[0].parts == (ToolCall(id="c1", name="f", arguments="{}"),)
    assert gather(read(stream)) == reply


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("ERROR_LIMIT", "length"),
        ("ERROR_TOXIC", "content_filter"),
        ("NEWS", "stop"),
    ],
)
def test_why_an_answer_ended(vendor: VendorSide, read: Any, reason: str, finish: str) -> None:
    body = {"id": "r1", "message": {}, "finish_reason": reason}

    assert vendor.read_reply(msgspec.json.encode(body)).choices[0].finish == finish
    assert gather(read(frames(START, end(reason)))).choices[0].finish == finish


@pytest.mark.parametrize(
    ("reason", "error", "status", "message"),
    [
        ("ERROR", "fell over", 502, "fell over"),
        ("ERROR", None, 502, "The upstream ended its answer with ERROR"),
        ("TIMEOUT", None, 504, "The upstream ended its answer with TIMEOUT"),
    ],
)
def test_an_ending_that_is_no_answer(
    vendor: VendorSide, read: Any, reason: str, error: str | None, status: int, message: str
) -> None:
    body = {"id": "r1", "message": {}, "finish_reason": reason, "error": error}

    with pytest.raises(UpstreamError, match=message) as raised:
        vendor.read_reply(msgspec.json.encode(body))

    assert raised.value.status == status
    assert read(frames(START, end(reason, error=error)))[-1] == ReplyFailed(message, status=status)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, None),
        ({}, None),
        ({"tokens": {"input_tokens": -1, "output_tokens": 1.5}}, None),
        ({"billed_units": {"input_tokens": 3, "output_tokens": 4}}, (3, 4, 0, 0)),
        (
            {
                "billed_units": {"input_tokens": 3, "output_tokens": 4},
                "tokens": {"input_tokens": 30, "output_tokens": 40, "image_tokens": 5},
                "cached_tokens": 10**6,
            },
            (35, 40, 35, 0),
        ),
        ({"tokens": {"output_tokens": 9, "reasoning_tokens": 4}}, (0, 9, 0, 4)),
        ({"tokens": {"output_tokens": 10**10}, "billed_units": {"output_tokens": 2}}, (0, 2, 0, 0)),
    ],
)
def test_what_was_used(vendor: VendorSide, usage: Any, counted: Any) -> None:
    body = {"id": "r1", "message": {}, "usage": usage}

    found = vendor.read_reply(msgspec.json.encode(body)).usage

    assert found == (
        counted
        and Usage(
            input_tokens=counted[0],
            output_tokens=counted[1],
            cached_tokens=counted[2],
            reasoning_tokens=counted[3],
        )
    )


def test_log_probabilities_of_a_piece_of_text_are_one_tokens(vendor: VendorSide, read: Any) -> None:
    row = {"text": "Hi", "token_ids": [1, 2], "logprobs": [-0.25, -0.5]}
    content = {"type": "text", "text": "Hi"}
    body = {"id": "r1", "message": {"content": [content]}, "logprobs": [row]}
    stream = frames(
        START, {**event("content-delta", 0, content={"text": "Hi"}), "logprobs": row}, end()
    )

    reply = vendor.read_reply(msgspec.json.encode(body))

    assert reply.choices[0].logprobs == msgspec.Raw(
        b'{"content":[{"token":"Hi","logprob":-0.75,"bytes":[72,105],"top_logprobs":[]}]}'
    )
    assert gather(read(stream)) == reply


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        frames(START),
        frames(START, "rubbish"),
        frames(START, {"message": "no type"}),
        frames(START, event("content-delta", 0, content={"text": 7})),
        frames(START, "[DONE]"),
    ],
)
def test_a_stream_that_goes_wrong_fails_at_its_end(read: Any, stream: bytes) -> None:
    assert isinstance(read(stream)[-1], ReplyFailed)


def test_events_out_of_place_do_no_harm(read: Any) -> None:
    stream = frames(
        event("tool-call-delta", 5, tool_calls={"function": {"arguments": "{}"}}),
        event("tool-call-end", 5),
        event("citation-start", 0, citations=CITED),
        event("content-end", 9),
        event("content-start", 0, content=[]),
        event("content-delta", 4, content={"text": "Hi"}),
        end(),
    )

    reply = gather(read(stream))

    assert (reply.id, reply.choices[0].parts) == ("", (Text(text="Hi"),))


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"message":7}', b"[" * 100_000])
def test_rubbish_is_an_upstream_error(vendor: VendorSide, body: bytes) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(body)


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_nothing_cohere_sends_makes_the_reader_raise(head: bytes, tail: bytes) -> None:
    assert CHAT.vendor is not None
    reader = CHAT.vendor.stream_reader()

    events = [*reader.feed(head), *reader.feed(frames(START) + tail), *reader.close()]

    assert isinstance(events[-1], ReplyFailed)


@pytest.fixture
def call() -> Call:
    return Call(kind=Kind.LLM, format="cohere", model="", stream=True, body=b"{}")


def test_the_relay_ends_a_broken_stream_as_cohere_would(
    vendor: VendorSide, target: Target, call: Call, read: Any
) -> None:
    relay = vendor.relay(call, target, {})

    passed = relay.feed(frames(START, event("content-delta", 0, content={"text": "Hi"})))
    passed += relay.close()

    assert relay.started
    assert relay.characters == 2
    assert relay.failure is not None
    assert read(passed)[-1] == ReplyFailed(relay.failure.message)


def test_the_relay_stops_at_coheres_own_error(
    vendor: VendorSide, target: Target, call: Call
) -> None:
    relay = vendor.relay(call, target, {})

    passed = relay.feed(frames(START, end("ERROR", error="fell over")))

    assert passed.startswith(frames(START))
    assert b'"error":"fell over"' in passed
    assert relay.failure == ReplyFailed("fell over")
    assert relay.close() == b""


def test_the_relay_gives_a_whole_answer_as_it_came(
    vendor: VendorSide, target: Target, call: Call
) -> None:
    call.stream = False
    relay = vendor.relay(call, target, {})
    body = b'{"id":"r1","message":{"content":[{"type":"text","text":"Hi"}]}}'

    relay.feed(body)

    assert relay.close() == body
    assert relay.characters == 2
