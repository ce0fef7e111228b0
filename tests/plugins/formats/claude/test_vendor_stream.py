"""Streams of this vendor as events, odd ones too."""

import json

from claude_streams import (
    ERROR,
    HELLO,
    START,
    STOP,
    closed,
    ended,
    grew,
    opened,
    read,
    relayed,
    stream,
)

from gateway_core import (
    ChoiceEnded,
    Foreign,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyFailed,
    ReplyStarted,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    VendorSide,
)


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


def test_a_delta_without_its_type_belongs_to_its_block(vendor: VendorSide) -> None:
    events = read(
        vendor,
        stream(
            START,
            opened(0, type="next_year", text="a"),
            grew(0, "", text="b"),
            closed(0),
            ended(),
            STOP,
        ),
    )

    assert not [event for event in events if isinstance(event, PartGrew)]
    [part] = [event.part for event in events if isinstance(event, PartStarted)]
    assert isinstance(part, Foreign)
    assert json.loads(bytes(part.raw)) == {"type": "next_year", "text": "ab"}


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


def test_a_last_frame_may_lack_its_blank_line(vendor: VendorSide) -> None:
    whole = stream(*HELLO)

    assert read(vendor, whole[:-2]) == read(vendor, whole)
    assert relayed(vendor, whole[:-2])[0] == whole
