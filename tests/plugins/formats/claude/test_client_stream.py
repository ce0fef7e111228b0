"""Streams of any vendor, told to a client of this format."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from claude_streams import STOP, closed, grew, opened, well_formed
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Finish,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    unseal,
    unseal_id,
)


def written(
    client: ClientSide, events: Sequence[StreamEvent]
) -> tuple[list[dict[str, Any]], list[str]]:
    losses = Losses()
    writer = client.stream_writer(Conversation(model="asked"), losses)
    data = writer.feed(events) + writer.close()
    assert well_formed(data), data
    frames = [line[6:] for line in data.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(one) for one in frames], list(losses.names)


BEGUN = ReplyStarted("r1", "m")


def of_kind(output: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in output if event["type"] == kind]


def test_a_stream_for_the_client(client: ClientSide) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, Text(text="")),
            PartGrew(0, "Hé"),
            PartGrew(0, "\n\u2028"),
            PartEnded(0),
            ChoiceEnded("stop"),
            UsageReported(Usage(input_tokens=9, output_tokens=4, cached_tokens=5)),
        ],
    )

    zeros = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    assert output == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_r1",
                "type": "message",
                "role": "assistant",
                "model": "asked",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0, **zeros},
            },
        },
        opened(0, type="text", text=""),
        grew(0, "text_delta", text="Hé"),
        grew(0, "text_delta", text="\n\u2028"),
        closed(0),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {
                "input_tokens": 4,
                "output_tokens": 4,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 5,
            },
        },
        STOP,
    ]
    assert losses == []


def test_counts_that_come_with_the_beginning_stand_in_it(client: ClientSide) -> None:
    output, _ = written(client, [BEGUN, UsageReported(Usage(input_tokens=7)), ChoiceEnded("stop")])

    assert output[0]["message"]["usage"]["input_tokens"] == 7


def test_thinking_for_the_client(client: ClientSide) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, Reasoning()),
            PartGrew(0, "hm"),
            PartSealed(0, signature="s", origin="gemini"),
            PartEnded(0),
            PartStarted(1, Reasoning(sealed="enc", origin="v")),
            PartEnded(1),
            PartStarted(2, Reasoning(id="rs", sealed="enc", origin="gpt", summary=True)),
            PartGrew(2, "short"),
            PartEnded(2),
            PartStarted(3, Reasoning()),
            PartSealed(3, signature="hidden", origin="v"),
            PartEnded(3),
            PartStarted(4, Reasoning()),
            PartEnded(4),
            ChoiceEnded("stop"),
        ],
    )

    blocks = [event["content_block"]["type"] for event in of_kind(output, "content_block_start")]
    assert blocks == ["thinking", "redacted_thinking", "thinking", "thinking"]
    marks = [
        event["delta"]["signature"]
        for event in of_kind(output, "content_block_delta")
        if event["delta"]["type"] == "signature_delta"
    ]
    assert unseal(marks[0]) == ("gemini", "s")
    assert unseal_id(marks[1])[3][0].sealed == "enc"
    assert unseal(marks[2]) == ("v", "hidden")
    assert losses == []


def test_calls_for_the_client(client: ClientSide) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, ToolCall(id="t", name="n", signature="s", origin="gemini")),
            PartGrew(0, '{"a":'),
            PartGrew(0, '"\\u00e9"}'),
            PartEnded(0),
            PartStarted(1, ToolCall(id="", name="n", extra={"x": Raw(b"1")})),
            PartSealed(1, signature="late"),
            PartEnded(1),
            ChoiceEnded("stop"),
        ],
    )

    first, second = (event["content_block"] for event in of_kind(output, "content_block_start"))
    assert unseal_id(first["id"]) == ("t", "gemini", "s", ())
    assert second == {"type": "tool_use", "id": "toolu_r1_1", "name": "n", "input": {}}
    pieces = [event["delta"]["partial_json"] for event in of_kind(output, "content_block_delta")]
    assert json.loads("".join(pieces)) == {"a": "é"}
    assert of_kind(output, "message_delta")[0]["delta"]["stop_reason"] == "tool_use"
    assert losses == ["x", "reasoning_signature"]


@pytest.mark.parametrize("pieces", [(), ('say "hi"\n', "é")])
def test_a_call_with_free_text_is_wrapped_as_it_grows(
    client: ClientSide, pieces: tuple[str, ...]
) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, ToolCall(id="t", name="sh", custom=True)),
            *(PartGrew(0, piece) for piece in pieces),
            PartEnded(0),
            ChoiceEnded("tool_calls"),
        ],
    )

    sent = [event["delta"]["partial_json"] for event in of_kind(output, "content_block_delta")]
    assert json.loads("".join(sent)) == {"input": "".join(pieces)}
    assert losses == ["tool:custom"]


def test_parts_that_came_by_turns_are_put_in_order(client: ClientSide) -> None:
    output, _ = written(
        client,
        [
            BEGUN,
            PartStarted(0, ToolCall(id="a", name="n")),
            PartStarted(1, ToolCall(id="b", name="n")),
            PartGrew(1, "{}"),
            PartGrew(0, "{}"),
            PartEnded(0),
            PartEnded(1),
            ChoiceEnded("tool_calls"),
        ],
    )

    assert [event["index"] for event in output if "index" in event] == [0, 0, 0, 1, 1, 1]


def test_citations_for_the_client(client: ClientSide) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, Text(text="")),
            CitationAdded(0, Citation(url="https://a", title="A")),
            CitationAdded(0, Citation(title="nowhere")),
            PartGrew(0, "a"),
            PartEnded(0),
            ChoiceEnded("stop"),
        ],
    )

    cited, grown = (event["delta"] for event in of_kind(output, "content_block_delta"))
    assert cited["citation"]["url"] == "https://a"
    assert grown["text"] == "a"
    assert losses == ["citations"]


def test_what_cannot_be_shown_leaves_no_block(client: ClientSide) -> None:
    output, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, Text(text="", signature="s", origin="gemini")),
            PartEnded(0),
            PartStarted(1, Media(kind="image", data="QQ==")),
            PartEnded(1),
            PartStarted(2, Foreign(dialect="gemini", type="x", raw=Raw(b"{}"))),
            PartEnded(2),
            PartStarted(0, Text(text="")),
            PartGrew(0, "other", choice=1),
            PartEnded(0, choice=1),
            ChoiceEnded("stop"),
            ChoiceEnded("stop", choice=1),
        ],
    )

    assert not of_kind(output, "content_block_start")
    assert losses == ["candidates", "reasoning_signature", "image", "part:x"]


def test_line_breaks_in_a_vendors_json_do_not_break_a_frame(client: ClientSide) -> None:
    pretty = Foreign(
        dialect="claude",
        type="compaction",
        raw=Raw(b'{\r\n "type": "compaction",\n "content": "a b"}'),
    )
    details = Raw(b'{\n"type": "refusal"\n}')

    output, _ = written(
        client,
        [
            BEGUN,
            PartStarted(0, pretty),
            PartEnded(0),
            ChoiceEnded("refusal", extra={"stop_details": details}),
        ],
    )

    assert output[1]["content_block"] == {"type": "compaction", "content": "a b"}
    assert output[-2]["delta"]["stop_details"] == {"type": "refusal"}


def test_refusals_are_words_in_a_stream_too(client: ClientSide) -> None:
    output, _ = written(
        client,
        [
            BEGUN,
            PartStarted(0, Refusal(text="")),
            PartGrew(0, "no"),
            PartEnded(0),
            ChoiceEnded("stop"),
        ],
    )

    assert of_kind(output, "content_block_delta")[0]["delta"]["text"] == "no"
    assert of_kind(output, "message_delta")[0]["delta"]["stop_reason"] == "refusal"


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "max_tokens"), ("content_filter", "refusal")]
)
def test_why_a_stream_ended(client: ClientSide, finish: Finish, reason: str) -> None:
    output, _ = written(client, [BEGUN, ChoiceEnded(finish, stop_sequence="x")])

    delta = of_kind(output, "message_delta")[0]["delta"]
    assert (delta["stop_reason"], delta["stop_sequence"]) == (reason, "x")


@pytest.mark.parametrize(
    "events",
    [
        [],
        [BEGUN],
        [BEGUN, PartStarted(0, Text(text="")), PartGrew(0, "a")],
        [BEGUN, ChoiceEnded("error")],
    ],
    ids=["nothing", "begun", "in a part", "ended in an error"],
)
def test_a_stream_that_did_not_end_says_so(client: ClientSide, events: list[StreamEvent]) -> None:
    output, _ = written(client, events)

    assert output[-1]["type"] == "error"
    assert not of_kind(output, "message_stop")


def test_a_failure_is_the_last_thing_said(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(Conversation(), losses)
    failure = ReplyFailed("Busy", "overloaded_error", None, 529)

    data = writer.feed([BEGUN, failure, ChoiceEnded("stop")])

    assert data.endswith(
        b'event: error\ndata: {"type":"error",'
        b'"error":{"type":"overloaded_error","message":"Busy"}}\n\n'
    )
    assert writer.feed([PartGrew(0, "x")]) == writer.close() == b""


def test_log_probabilities_are_recorded(client: ClientSide) -> None:
    grown = PartGrew(0, "a", 0, Raw(b'{"content":[]}'))
    events: list[StreamEvent] = [BEGUN, PartStarted(0, Text(text="")), grown, PartEnded(0)]

    assert written(client, [*events, ChoiceEnded("stop")])[1] == ["logprobs"]
