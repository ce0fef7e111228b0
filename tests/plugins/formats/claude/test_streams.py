"""Streams: odd ones of this vendor, and those of any vendor for a client of this format."""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from gateway_format_claude import CLAUDE
from msgspec import Raw

from gateway_core import (
    Call,
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Finish,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ProviderSpec,
    Reasoning,
    Refusal,
    Relay,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    VendorSide,
    unseal,
    unseal_id,
)
from gateway_formats.grammar import violation
from gateway_formats.relay import CUT_SHORT, RUBBISH

START = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": []}}
STOP = {"type": "message_stop"}


def ended(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def opened(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grew(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def closed(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def frame(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(frame(event) for event in events)


HELLO = (
    START,
    opened(0, type="text", text=""),
    grew(0, "text_delta", text="Hello"),
    closed(0),
    ended(),
    STOP,
)


def read(vendor: VendorSide, data: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [*reader.feed(data), *reader.close()]


def relayed(vendor: VendorSide, data: bytes) -> tuple[bytes, Relay]:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})
    return relay.feed(data) + relay.close(), relay


def well_formed(data: bytes) -> bool:
    assert CLAUDE.grammar is not None
    return violation(CLAUDE.grammar, data) is None


def test_the_events_of_a_plain_answer(vendor: VendorSide) -> None:
    assert read(vendor, stream(*HELLO)) == [
        ReplyStarted("msg_1", "m"),
        PartStarted(0, Text(text="")),
        PartGrew(0, "Hello"),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]


def test_later_counts_replace_earlier_ones_but_zero_does_not(vendor: VendorSide) -> None:
    start = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 5}},
    }
    events = read(vendor, stream(start, ended(output_tokens=3, input_tokens=0), STOP))

    assert [event.usage for event in events if isinstance(event, UsageReported)] == [
        Usage(input_tokens=15, cached_tokens=5),
        Usage(input_tokens=15, cached_tokens=5, output_tokens=3),
    ]


def test_a_call_without_arguments_has_an_empty_object(vendor: VendorSide) -> None:
    quiet = opened(0, type="tool_use", id="t", name="n", input={})
    events = read(
        vendor,
        stream(
            START, quiet, grew(0, "input_json_delta", partial_json=""), closed(0), ended(), STOP
        ),
    )

    assert events[1:4] == [
        PartStarted(0, ToolCall(id="t", name="n")),
        PartGrew(0, "{}"),
        PartEnded(0),
    ]


def test_a_call_may_begin_with_its_arguments(vendor: VendorSide) -> None:
    full = opened(0, type="tool_use", id="t", name="n", input={"a": 1})

    assert PartGrew(0, '{"a": 1}') in read(vendor, stream(START, full, closed(0), ended(), STOP))


def test_content_may_stand_in_the_beginning(vendor: VendorSide) -> None:
    message = {"id": "x", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
    begun = {"type": "message_start", "message": message}

    events = read(vendor, stream(begun, ended("tool_use"), STOP))

    assert PartStarted(0, ToolCall(id="t", name="n")) in events
    assert events[-1] == ChoiceEnded("tool_calls")


def test_thinking_is_sealed_by_its_signature(vendor: VendorSide) -> None:
    events = read(
        vendor,
        stream(
            START,
            opened(0, type="thinking", thinking="", signature=""),
            grew(0, "thinking_delta", thinking="hm"),
            grew(0, "signature_delta", signature="s"),
            closed(0),
            opened(1, type="redacted_thinking", data="x"),
            closed(1),
            ended(),
            STOP,
        ),
    )

    assert events[1:-1] == [
        PartStarted(0, Reasoning()),
        PartGrew(0, "hm"),
        PartSealed(0, signature="s"),
        PartEnded(0),
        PartStarted(1, Reasoning(sealed="x")),
        PartEnded(1),
    ]


def test_a_server_tools_block_is_passed_on_whole_when_it_stops(vendor: VendorSide) -> None:
    events = read(
        vendor,
        stream(
            START,
            opened(0, type="server_tool_use", id="s", name="web_search", input={}),
            grew(0, "input_json_delta", partial_json='{"query":'),
            grew(0, "input_json_delta", partial_json='"x"}'),
            closed(0),
            opened(1, type="next_year", note=None, list=[1]),
            grew(1, "next_year_delta", note="a", list=[2]),
            grew(1, "next_year_delta", note="b"),
            closed(1),
            opened(2, type="web_search_tool_result", content=[]),
            closed(2),
            ended(),
            STOP,
        ),
    )

    parts = [event.part for event in events if isinstance(event, PartStarted)]
    assert [json.loads(bytes(p.raw)) for p in parts if isinstance(p, Foreign)] == [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "next_year", "note": "ab", "list": [2]},
        {"type": "web_search_tool_result", "content": []},
    ]


def test_an_explained_refusal_is_a_part(vendor: VendorSide) -> None:
    details = {"type": "refusal", "explanation": "no"}
    end = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}

    events = read(vendor, stream(START, end, STOP))

    assert PartGrew(0, "no") in events
    last = events[-1]
    assert isinstance(last, ChoiceEnded)
    assert last.finish == "refusal"
    assert set(last.extra) == {"stop_details"}


def test_blocks_left_open_are_closed_at_the_end(vendor: VendorSide) -> None:
    events = read(vendor, stream(START, opened(0, type="text", text="a"), ended(None), STOP))

    assert events[-2:] == [PartEnded(0), ChoiceEnded("stop")]


def test_a_vendor_may_leave_out_event_names_and_add_other_events(vendor: VendorSide) -> None:
    data = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in HELLO)
    others = b'data: {"type":"vibe","x":1}\n\n: comment\n\ndata: {"type":"ping"}\n\n'

    assert read(vendor, others + data + b"data: [DONE]\n\n") == read(vendor, stream(*HELLO))


def test_a_vendor_may_leave_out_types_and_the_beginning(vendor: VendorSide) -> None:
    nameless = stream(*HELLO)
    for event in HELLO:
        nameless = nameless.replace(f'"type": "{event["type"]}", '.encode(), b"")
    headless = stream(*HELLO[1:])

    assert read(vendor, nameless) == read(vendor, stream(*HELLO))
    assert read(vendor, headless)[1:] == read(vendor, stream(*HELLO))[1:]
    assert read(vendor, headless)[0] == ReplyStarted("", "")


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}


def test_an_error_in_the_stream_ends_it(vendor: VendorSide) -> None:
    events = read(vendor, stream(*HELLO[:3], ERROR, *HELLO[3:]))

    assert events[-1] == ReplyFailed("Busy", "overloaded_error", None, 529)
    assert len(events) == 4


def test_a_whole_answer_instead_of_a_stream_is_read(vendor: VendorSide) -> None:
    body = {"id": "x", "model": "m", "content": [{"type": "text", "text": "a"}]}

    events = read(vendor, json.dumps(body).encode())

    assert PartGrew(0, "a") in events
    assert events[-1] == ChoiceEnded("stop")


def test_an_error_instead_of_a_stream_is_read(vendor: VendorSide) -> None:
    (failed,) = read(vendor, json.dumps(ERROR).encode())

    assert isinstance(failed, ReplyFailed)
    assert (failed.message, failed.kind, failed.status) == ("Busy", "overloaded_error", 529)


@pytest.mark.parametrize("kept", range(len(HELLO)))
def test_an_early_end_is_a_failure(vendor: VendorSide, kept: int) -> None:
    data = stream(*HELLO[:kept])

    events = read(vendor, data)
    passed, relay = relayed(vendor, data)

    assert events[-1] == ReplyFailed(CUT_SHORT)
    assert relay.failure == ReplyFailed(CUT_SHORT)
    assert passed.startswith(data)
    assert well_formed(passed)


def test_a_frame_cut_in_the_middle_is_a_failure(vendor: VendorSide) -> None:
    whole = stream(*HELLO)
    for cut in range(0, len(whole) - 25, 7):
        assert isinstance(read(vendor, whole[:cut])[-1], ReplyFailed)
        assert well_formed(relayed(vendor, whole[:cut])[0])


def test_a_last_frame_may_lack_its_blank_line(vendor: VendorSide) -> None:
    whole = stream(*HELLO)

    assert read(vendor, whole[:-2]) == read(vendor, whole)
    assert relayed(vendor, whole[:-2])[0] == whole


BROKEN: list[tuple[str, tuple[Any, ...]]] = [
    ("no JSON", (START, b"event: ping\ndata: {nonsense\n\n")),
    ("a list", (START, b"event: ping\ndata: []\n\n")),
    ("a beginning without a message", ({"type": "message_start"},)),
    ("a delta without its block", (START, grew(0, "text_delta", text="a"))),
    ("a delta without a delta", (*HELLO[:2], {"type": "content_block_delta", "index": 0})),
    ("a block twice", (*HELLO[:2], HELLO[1])),
    ("text of numbers", (*HELLO[:2], grew(0, "text_delta", text=3))),
    ("an end without a beginning", (STOP,)),
    ("counts of text", (START, {"type": "message_delta", "delta": {}, "usage": "x"})),
]


@pytest.mark.parametrize("frames", [b[1] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_rubbish_in_a_stream_is_a_failure(vendor: VendorSide, frames: tuple[Any, ...]) -> None:
    data = b"".join(f if isinstance(f, bytes) else frame(f) for f in frames)

    assert read(vendor, data)[-1] == ReplyFailed(RUBBISH)
    passed, relay = relayed(vendor, data + stream(STOP))
    assert relay.failure is not None
    assert well_formed(passed)
    assert passed.endswith(b"\n\n")


ONLY_RELAYED: list[tuple[str, bytes]] = [
    ("a name that is not the type", frame(START).replace(b"event: message_start", b"event: x")),
    ("no name", b"data: " + json.dumps(START).encode() + b"\n\n"),
    ("an end with a block open", stream(*HELLO[:3], ended(), STOP)),
    ("an end without its reason", stream(START, STOP)),
    ("a block behind the end", stream(*HELLO[:5], opened(1, type="text", text=""))),
    ("a negative index", stream(START, opened(-1, type="text", text=""))),
    ("a block before the beginning", stream(HELLO[1])),
    ("text without its block", stream(START, HELLO[2], ended(), STOP)),
]


@pytest.mark.parametrize("data", [o[1] for o in ONLY_RELAYED], ids=[o[0] for o in ONLY_RELAYED])
def test_what_clients_of_this_format_could_not_read_is_not_passed_on(
    vendor: VendorSide, data: bytes
) -> None:
    passed, relay = relayed(vendor, data)

    assert relay.failure == ReplyFailed(RUBBISH)
    assert well_formed(passed)


def test_the_relay_hears_when_an_answer_has_started(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})

    relay.feed(stream({"type": "ping"}, START, {"type": "ping"}))
    assert not relay.started
    relay.feed(stream(HELLO[1]))
    assert relay.started
    relay.feed(stream(*HELLO[2:4]))
    assert relay.characters == 5


def test_the_relay_passes_an_error_on_in_its_own_words(vendor: VendorSide) -> None:
    passed, relay = relayed(vendor, stream(*HELLO[:3], ERROR))

    assert relay.failure == ReplyFailed("Busy", "overloaded_error", None, 529)
    assert well_formed(passed)
    assert b'"type":"overloaded_error"' in passed


def test_what_follows_the_end_is_not_passed_on(vendor: VendorSide) -> None:
    whole = stream(*HELLO)

    passed, relay = relayed(vendor, whole + whole)

    assert passed == whole
    assert relay.failure is None


def test_a_relay_that_is_told_to_fail_ends_with_an_error(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=True, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    relay = vendor.relay(call, Target(spec, Model("m")), {})

    passed = relay.feed(stream(*HELLO[:3])) + relay.fail(ReplyFailed("gone", status=504))

    assert well_formed(passed)
    assert b'"timeout_error"' in passed
    assert relay.feed(stream(HELLO[3])) == b""


def test_an_error_instead_of_a_whole_answer_is_told(vendor: VendorSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="m", stream=False, body=b"{}")
    spec = ProviderSpec(id="anthropic", name="A", format="claude")
    for body, message in ((ERROR, "Busy"), ({"x": 1}, "could not be read")):
        relay = vendor.relay(call, Target(spec, Model("m")), {})

        assert relay.feed(json.dumps(body).encode()) + relay.close() == b""
        assert relay.failure is not None
        assert message in relay.failure.message


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


def of_kind(said: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in said if event["type"] == kind]


def test_a_stream_for_the_client(client: ClientSide) -> None:
    said, losses = written(
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
    assert said == [
        {
            "type": "message_start",
            "message": {
                "id": "msg_r1",
                "type": "message",
                "role": "assistant",
                "model": "m",
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
    said, _ = written(client, [BEGUN, UsageReported(Usage(input_tokens=7)), ChoiceEnded("stop")])

    assert said[0]["message"]["usage"]["input_tokens"] == 7


def test_thinking_for_the_client(client: ClientSide) -> None:
    said, losses = written(
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

    blocks = [event["content_block"]["type"] for event in of_kind(said, "content_block_start")]
    assert blocks == ["thinking", "redacted_thinking", "thinking", "thinking"]
    marks = [
        event["delta"]["signature"]
        for event in of_kind(said, "content_block_delta")
        if event["delta"]["type"] == "signature_delta"
    ]
    assert unseal(marks[0]) == ("gemini", "s")
    assert unseal_id(marks[1])[3][0].sealed == "enc"
    assert unseal(marks[2]) == ("v", "hidden")
    assert losses == []


def test_calls_for_the_client(client: ClientSide) -> None:
    said, losses = written(
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

    first, second = (event["content_block"] for event in of_kind(said, "content_block_start"))
    assert unseal_id(first["id"]) == ("t", "gemini", "s", ())
    assert second == {"type": "tool_use", "id": "toolu_r1_1", "name": "n", "input": {}}
    pieces = [event["delta"]["partial_json"] for event in of_kind(said, "content_block_delta")]
    assert json.loads("".join(pieces)) == {"a": "é"}
    assert of_kind(said, "message_delta")[0]["delta"]["stop_reason"] == "tool_use"
    assert losses == ["x", "reasoning_signature"]


@pytest.mark.parametrize("pieces", [(), ('say "hi"\n', "é")])
def test_a_call_with_free_text_is_wrapped_as_it_grows(
    client: ClientSide, pieces: tuple[str, ...]
) -> None:
    said, losses = written(
        client,
        [
            BEGUN,
            PartStarted(0, ToolCall(id="t", name="sh", custom=True)),
            *(PartGrew(0, piece) for piece in pieces),
            PartEnded(0),
            ChoiceEnded("tool_calls"),
        ],
    )

    sent = [event["delta"]["partial_json"] for event in of_kind(said, "content_block_delta")]
    assert json.loads("".join(sent)) == {"input": "".join(pieces)}
    assert losses == ["tool:custom"]


def test_parts_that_came_by_turns_are_put_in_order(client: ClientSide) -> None:
    said, _ = written(
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

    assert [event["index"] for event in said if "index" in event] == [0, 0, 0, 1, 1, 1]


def test_citations_for_the_client(client: ClientSide) -> None:
    said, losses = written(
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

    cited, grown = (event["delta"] for event in of_kind(said, "content_block_delta"))
    assert cited["citation"]["url"] == "https://a"
    assert grown["text"] == "a"
    assert losses == ["citations"]


def test_what_cannot_be_shown_leaves_no_block(client: ClientSide) -> None:
    said, losses = written(
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

    assert not of_kind(said, "content_block_start")
    assert losses == ["candidates", "reasoning_signature", "image", "part:x"]


def test_line_breaks_in_a_vendors_json_do_not_break_a_frame(client: ClientSide) -> None:
    pretty = Foreign(
        dialect="claude",
        type="compaction",
        raw=Raw(b'{\r\n "type": "compaction",\n "content": "a b"}'),
    )
    details = Raw(b'{\n"type": "refusal"\n}')

    said, _ = written(
        client,
        [
            BEGUN,
            PartStarted(0, pretty),
            PartEnded(0),
            ChoiceEnded("refusal", extra={"stop_details": details}),
        ],
    )

    assert said[1]["content_block"] == {"type": "compaction", "content": "a b"}
    assert said[-2]["delta"]["stop_details"] == {"type": "refusal"}


def test_refusals_are_words_in_a_stream_too(client: ClientSide) -> None:
    said, _ = written(
        client,
        [
            BEGUN,
            PartStarted(0, Refusal(text="")),
            PartGrew(0, "no"),
            PartEnded(0),
            ChoiceEnded("stop"),
        ],
    )

    assert of_kind(said, "content_block_delta")[0]["delta"]["text"] == "no"
    assert of_kind(said, "message_delta")[0]["delta"]["stop_reason"] == "refusal"


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "max_tokens"), ("content_filter", "refusal")]
)
def test_why_a_stream_ended(client: ClientSide, finish: Finish, reason: str) -> None:
    said, _ = written(client, [BEGUN, ChoiceEnded(finish, stop_sequence="x")])

    delta = of_kind(said, "message_delta")[0]["delta"]
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
    said, _ = written(client, events)

    assert said[-1]["type"] == "error"
    assert not of_kind(said, "message_stop")


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


def test_the_keep_alive_may_come_anywhere() -> None:
    assert CLAUDE.keep_alive is not None
    beat = CLAUDE.keep_alive.frame
    for data in (stream(*HELLO), stream(*HELLO[:3], ERROR)):
        edges = list(accumulate(len(piece) + 2 for piece in data.split(b"\n\n")[:-1]))
        for edge in (0, *edges[:-1]):
            assert well_formed(data[:edge] + beat + data[edge:])


NOT_WELL_FORMED = [
    b"",
    stream(*HELLO[:-1]),
    stream(*HELLO, *HELLO),
    stream(*HELLO[1:]),
    stream(START, HELLO[2], ended(), STOP),
    stream(START, *HELLO),
    stream(*HELLO[:3], *HELLO[4:]),
    stream(*HELLO[:4], STOP),
    stream(*HELLO, ERROR),
    stream(*HELLO[:3], ERROR, *HELLO[3:]),
    stream(*HELLO).replace(b"event: content_block_stop", b"event: nothing"),
    stream(*HELLO).replace(b'"index": 0', b'"index": 1', 1),
    b"data: nonsense\n\n" + stream(*HELLO),
]


@pytest.mark.parametrize("data", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_the_grammar_refuses_broken_streams(data: bytes) -> None:
    assert not well_formed(data)
