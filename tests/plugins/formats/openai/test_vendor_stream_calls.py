"""Tool calls in a stream, told apart however their vendor marks them."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from gateway_core import (
    ChoiceEnded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    StreamEvent,
    ToolCall,
    VendorSide,
)

DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, *, finish: str | None = None, index: int = 0, **members: Any) -> bytes:
    choice: dict[str, Any] = {"index": index, "delta": delta or {}, "finish_reason": finish}
    choice |= members.pop("choice", {})
    written = {"id": "r1", "model": "m", "created": 7, "choices": [choice], **members}
    return b"data: %b\n\n" % msgspec.json.encode(written)


def call(
    index: int | None = 0, id: str | None = None, name: str | None = None, text: Any = None
) -> dict[str, Any]:
    """One delta of a tool call; what is ``None`` is left out."""
    function = {k: v for k, v in (("name", name), ("arguments", text)) if v is not None}
    delta = {"index": index, "id": id, "function": function}
    return {k: v for k, v in delta.items() if v is not None}


def calls(*deltas: Any) -> bytes:
    return chunk({"tool_calls": list(deltas)})


def read(vendor: VendorSide, *frames: bytes) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for frame in frames for event in reader.feed(frame)] + list(reader.close())


def started_calls(events: Sequence[StreamEvent]) -> list[ToolCall]:
    started = [event.part for event in events if isinstance(event, PartStarted)]
    return [part for part in started if isinstance(part, ToolCall)]


def arguments(events: Sequence[StreamEvent]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for event in events:
        if isinstance(event, PartGrew):
            texts[event.index] = texts.get(event.index, "") + event.text
    return texts


def test_calls_that_come_after_a_reason_to_end_are_not_lost(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"tool_calls": [call(0, "a", "f", "{}")]}, finish="tool_calls"),
        chunk({"tool_calls": [call(1, "b", "g", "{}")]}, finish="tool_calls"),
        DONE,
    )

    assert [c.name for c in started_calls(events)] == ["f", "g"]
    assert [event for event in events if isinstance(event, ChoiceEnded)] == [
        ChoiceEnded("tool_calls")
    ]


def test_a_call_ends_when_the_next_starts_if_its_arguments_are_whole(vendor: VendorSide) -> None:
    events = read(
        vendor,
        calls(call(0, "a", "f", "")),
        calls(call(0, text='{"x":')),
        calls(call(0, text="1}")),
        calls(call(1, "b", "g", "{}")),
        chunk(finish="tool_calls"),
    )

    assert events[1:] == [
        PartStarted(0, ToolCall(id="a", name="f")),
        PartGrew(0, '{"x":'),
        PartGrew(0, "1}"),
        PartEnded(0),
        PartStarted(1, ToolCall(id="b", name="g")),
        PartGrew(1, "{}"),
        PartEnded(1),
        ChoiceEnded("tool_calls"),
    ]


def test_calls_that_take_turns_lose_nothing(vendor: VendorSide) -> None:
    events = read(
        vendor,
        calls(call(0, "a", "f", '{"x"')),
        calls(call(1, "b", "g", '{"y"')),
        calls(call(0, text=":1}"), call(1, text=":2}")),
        chunk(finish="tool_calls"),
    )

    assert arguments(events) == {0: '{"x":1}', 1: '{"y":2}'}
    assert events[-3:] == [PartEnded(0), PartEnded(1), ChoiceEnded("tool_calls")]


@pytest.mark.parametrize(
    "deltas",
    [
        [call(None, "a", "f", '{"x":1}'), call(None, "b", "g", '{"y":2}')],
        [call(0, "a", "f", '{"x":1}'), call(0, "b", "g", '{"y":2}')],
        [call(None, "", "f", '{"x":1}'), call(None, "", "g", '{"y":2}')],
        [call(None, "a", "f", {"x": 1}), call(None, "b", "g", {"y": 2})],
        [call(0, "a", "f"), call(0, "", text='{"x":1}'), call(1, "b", "g", '{"y":2}')],
        [
            call(0, "a", "f", '{"x"'),
            call(0, "a", "f", ":1}"),
            call(1, "b", "g", '{"y"'),
            call(1, "b", "g", ":2}"),
        ],
        [
            call(None, "a", "f", '{"x"'),
            call(None, text=":1}"),
            call(None, "b", "g", '{"y"'),
            call(None, "b", text=":2}"),
        ],
        [
            call(None, "a", "f", '{"x"'),
            call(None, "a1", text=":1}"),
            call(None, "b", "g", '{"y"'),
            call(None, "b1", text=":2}"),
        ],
    ],
    ids=["no-index", "same-index", "no-id", "objects", "empty-id", "repeated", "bare", "random"],
)
@pytest.mark.parametrize("together", [True, False], ids=["one-chunk", "chunks"])
def test_calls_are_told_apart_however_the_vendor_marks_them(
    vendor: VendorSide, deltas: list[Any], together: bool
) -> None:
    frames = [calls(*deltas)] if together else [calls(delta) for delta in deltas]

    events = read(vendor, *frames, chunk(finish="tool_calls"))

    assert [(c.name, bool(c.id)) for c in started_calls(events)] == [("f", True), ("g", True)]
    assert arguments(events) == {0: '{"x":1}', 1: '{"y":2}'}
    assert len({c.id for c in started_calls(events)}) == 2


def test_a_call_without_an_id_gets_the_same_one_every_time(vendor: VendorSide) -> None:
    frames = (calls(call(0, "", "f", "{}")), chunk(finish="tool_calls"))

    assert started_calls(read(vendor, *frames))[0].id == "call_r1_00"
    assert read(vendor, *frames) == read(vendor, b"".join(frames))


def test_an_older_function_call_is_a_call(vendor: VendorSide) -> None:
    events = read(
        vendor,
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk(finish="function_call"),
    )

    assert [c.name for c in started_calls(events)] == ["f"]
    assert arguments(events) == {0: "{}"}
    assert events[-1] == ChoiceEnded("tool_calls")


def test_a_custom_call_streams_free_text(vendor: VendorSide) -> None:
    first = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "calc", "input": ""}}
    events = read(
        vendor,
        calls(first),
        calls({"index": 0, "custom": {"input": "{4}"}}),
        calls({"index": 0, "custom": {"input": " + 4"}}),
        calls(call(1, "b", "g", "{}")),
        chunk(finish="tool_calls"),
    )

    assert started_calls(events)[0] == ToolCall(id="a", name="calc", custom=True)
    assert arguments(events)[0] == "{4} + 4"


def test_a_call_ends_the_text_before_it(vendor: VendorSide) -> None:
    events = read(
        vendor, chunk({"content": "a"}), calls(call(0, "a", "f", "{}")), chunk(finish="stop")
    )

    assert [type(event) for event in events[1:]] == [
        PartStarted,
        PartGrew,
        PartEnded,
        PartStarted,
        PartGrew,
        PartEnded,
        ChoiceEnded,
    ]
    assert events[-1] == ChoiceEnded("tool_calls")


def test_proofs_of_calls_and_messages_are_kept(vendor: VendorSide) -> None:
    proof = {"google": {"thought_signature": "sig"}}
    signed = {**call(0, "a", "f", "{}"), "extra_content": proof}
    later = {**call(0, text=""), "extra_content": proof}

    at_once = read(vendor, calls(signed), chunk(finish="tool_calls"))
    late = read(vendor, calls(call(0, "a", "f", "{}")), calls(later), chunk(finish="tool_calls"))
    whole = read(
        vendor,
        chunk({"tool_calls": [call(0, "a", "f", "{}")], "extra_content": proof}),
        chunk(finish="tool_calls"),
    )
    text = read(vendor, chunk({"content": "a", "extra_content": proof}), chunk(finish="stop"))

    assert started_calls(at_once)[0].signature == "sig"
    assert PartSealed(0, "sig") in late
    assert started_calls(whole)[0].signature == "sig"
    assert PartSealed(0, "sig") in text


def test_the_end_marker_ends_an_answer_that_gives_no_reason(vendor: VendorSide) -> None:
    events = read(vendor, calls(call(0, "a", "f", "{}")), DONE, b"data: rubbish\n\n")

    assert events[-2:] == [PartEnded(0), ChoiceEnded("tool_calls")]


def test_a_call_starts_when_its_name_is_known(vendor: VendorSide) -> None:
    events = read(
        vendor,
        calls(call(0, "a", text="")),
        calls(call(0, text='{"x"')),
        calls(call(0, name="f", text=":1}")),
        calls(call(1, "b", text="{}")),
        chunk(finish="tool_calls"),
    )

    assert started_calls(events) == [ToolCall(id="a", name="f")]
    assert arguments(events) == {0: '{"x":1}'}
