"""What vendors stream: all of the grammar, and what they leave out."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import Raw

from gateway_core import (
    ChoiceEnded,
    Foreign,
    Media,
    PartGrew,
    Reasoning,
    Refusal,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
    VendorSide,
)
from gateway_formats.fold import gather

Json = dict[str, Any]
Hear = Callable[..., list[StreamEvent]]

CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "created_at": 5}}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": ""}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
USAGE = {"input_tokens": 3, "output_tokens": 2}


def added(item: Json, index: int = 0) -> Json:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(item: Json, index: int = 0) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, text: str, index: int = 0, **more: Any) -> Json:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **more}


def completed(*output: Json, **more: Any) -> Json:
    written = {"id": "resp_1", "model": "m", "status": "completed", "usage": USAGE, **more}
    return {"type": "response.completed", "response": {**written, "output": list(output)}}


def message(text: str, **more: Any) -> Json:
    return {**MESSAGE, "content": [{"type": "output_text", "text": text, **more}]}


@pytest.fixture
def hear(vendor: VendorSide) -> Hear:
    def heard(*frames: Json | bytes) -> list[StreamEvent]:
        reader = vendor.stream_reader()
        events: list[StreamEvent] = []
        for frame in frames:
            data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
            events += reader.feed(b"data: %b\n\n" % data)
        return [*events, *reader.close()]

    return heard


def parts(events: Sequence[StreamEvent]) -> list[Any]:
    return list(gather(events).choices[0].parts)


def test_the_events_of_a_text(hear: Hear) -> None:
    rows = [{"token": "a", "logprob": -1.0}]

    events = hear(
        CREATED,
        added(MESSAGE),
        {
            "type": "response.content_part.added",
            "output_index": 0,
            "part": {"type": "output_text", "text": ""},
        },
        delta("output_text", "a", logprobs=rows),
        delta("output_text", "b", logprobs=[]),
        {"type": "response.output_text.done", "output_index": 0, "text": "ab"},
        {
            "type": "response.content_part.done",
            "output_index": 0,
            "part": {"type": "output_text", "text": "ab"},
        },
        done(message("ab")),
        completed(message("ab")),
    )

    assert events[0] == ReplyStarted("resp_1", "m", 5)
    grown = [event for event in events if isinstance(event, PartGrew)]
    assert [event.text for event in grown] == ["a", "b"]
    assert json.loads(bytes(grown[0].logprobs or b"")) == {"content": rows}
    assert grown[1].logprobs is None
    assert events[-2:] == [
        UsageReported(Usage(input_tokens=3, output_tokens=2)),
        ChoiceEnded("stop"),
    ]


@pytest.mark.parametrize(
    "frames",
    [
        [added(MESSAGE), done(message("whole"))],
        [added(MESSAGE), delta("output_text", "wh"), done(message("whole"))],
        [delta("output_text", "wh"), delta("output_text", "ole")],
        [delta("output_text", "wh"), {"type": "response.output_text.done", "text": "whole"}],
        [done(message("whole"))],
        [],
        [added(MESSAGE), delta("output_text", "whole", content_index=1), done(message("whole"))],
    ],
    ids=["no deltas", "lost deltas", "no item", "late text", "item alone", "nothing", "odd index"],
)
def test_what_a_vendor_leaves_out_comes_from_what_it_does_not(
    hear: Hear, frames: list[Json]
) -> None:
    assert parts(hear(CREATED, *frames, completed(message("whole")))) == [Text(text="whole")]


def test_a_final_object_may_be_empty(hear: Hear) -> None:
    written = [added(MESSAGE), delta("output_text", "text")]

    assert parts(hear(CREATED, *written, completed())) == [Text(text="text")]
    assert parts(hear(CREATED, *written, {"type": "response.completed"})) == [Text(text="text")]


def test_a_text_that_is_told_differently_at_its_end_is_not_mixed_up(hear: Hear) -> None:
    written = [added(MESSAGE), delta("output_text", "Hello"), done(message("Good bye, all"))]

    assert parts(hear(CREATED, *written, completed())) == [Text(text="Hello")]


def test_calls_may_overlap_and_come_in_every_shape(hear: Hear) -> None:
    second = {**CALL, "call_id": "c2", "name": "g"}
    late = {"type": "function_call", "id": "fc_3", "call_id": "c3", "name": "h", "arguments": "{}"}
    free = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c4", "name": "x", "input": ""}

    found = parts(
        hear(
            CREATED,
            added(CALL, 0),
            added(second, 1),
            delta("function_call_arguments", '{"a"', 0),
            delta("function_call_arguments", "{", 1),
            delta("function_call_arguments", ":1}", 0),
            {
                "type": "response.function_call_arguments.done",
                "output_index": 1,
                "arguments": '{"b":2}',
            },
            delta("function_call_arguments", "ignored", 2),
            done(late, 2),
            added(free, 3),
            delta("custom_tool_call_input", "fr", 3),
            {"type": "response.custom_tool_call_input.done", "output_index": 3, "input": "free"},
            completed(),
        )
    )

    assert found == [
        ToolCall(id="c1", name="f", arguments='{"a":1}'),
        ToolCall(id="c2", name="g", arguments='{"b":2}'),
        ToolCall(id="c3", name="h", arguments="{}"),
        ToolCall(id="c4", name="x", arguments="free", custom=True),
    ]


def test_a_call_ends_the_answer_with_calls(hear: Hear) -> None:
    events = hear(CREATED, done({**CALL, "arguments": "{}"}), completed())

    assert events[-1] == ChoiceEnded("tool_calls")


def test_a_call_without_an_id_takes_its_items(hear: Hear) -> None:
    (call,) = parts(hear(CREATED, done({**CALL, "call_id": None}), completed()))

    assert call.id == "fc_1"


def test_what_a_call_says_besides_is_kept(hear: Hear) -> None:
    (call,) = parts(hear(CREATED, done({**CALL, "namespace": "n", "status": "x"}), completed()))

    assert call.extra == {"namespace": Raw(b'"n"')}


def test_an_item_that_is_added_twice_is_one(hear: Hear) -> None:
    written = [added(CALL), added(CALL), delta("function_call_arguments", "{}")]

    assert parts(hear(CREATED, *written, completed())) == [
        ToolCall(id="c1", name="f", arguments="{}")
    ]


def test_a_refusal(hear: Hear) -> None:
    refused = {**MESSAGE, "content": [{"type": "refusal", "refusal": "I will not"}]}

    events = hear(
        CREATED,
        added(MESSAGE),
        {"type": "response.content_part.added", "part": {"type": "refusal", "refusal": ""}},
        delta("refusal", "I will "),
        {"type": "response.refusal.done", "refusal": "I will not"},
        done(refused),
        completed(refused),
    )

    assert parts(events) == [Refusal(text="I will not")]
    assert events[-1] == ChoiceEnded("refusal")


def test_a_summary_of_several_pieces_is_one_part(hear: Hear) -> None:
    finished = {
        **THOUGHT,
        "summary": [{"type": "summary_text", "text": t} for t in ("one", "", "two")],
        "encrypted_content": "enc",
    }

    found = parts(
        hear(
            CREATED,
            added(THOUGHT),
            {"type": "response.reasoning_summary_part.added", "summary_index": 0},
            delta("reasoning_summary_text", "on", summary_index=0),
            delta("reasoning_summary_text", "e", summary_index=0),
            {"type": "response.reasoning_summary_part.added", "summary_index": 2},
            delta("reasoning_summary_text", "two", summary_index=2),
            done(finished),
            completed(finished),
        )
    )

    assert found == [Reasoning(text="one\n\ntwo", summary=True, id="rs_1", sealed="enc")]


def test_thinking_in_full_and_in_summary_are_two_parts(hear: Hear) -> None:
    finished = {
        **THOUGHT,
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
        "encrypted_content": "enc",
    }
    expected = [
        Reasoning(text="short", summary=True, id="rs_1"),
        Reasoning(text="long", id="rs_1", sealed="enc"),
    ]

    streamed = hear(
        CREATED,
        added(THOUGHT),
        delta("reasoning_summary_text", "short"),
        delta("reasoning_text", "long"),
        done(finished),
        completed(finished),
    )

    assert parts(streamed) == expected
    assert parts(hear(CREATED, completed(finished))) == expected


def test_thinking_that_shows_and_proves_nothing_is_no_part(hear: Hear) -> None:
    written = [added(THOUGHT), done(THOUGHT), added(MESSAGE, 1), delta("output_text", "a", 1)]

    assert parts(hear(CREATED, *written, completed(THOUGHT, message("a")))) == [Text(text="a")]


def test_a_proof_alone_is_a_part(hear: Hear) -> None:
    finished = {**THOUGHT, "encrypted_content": "enc"}

    assert parts(hear(CREATED, added(finished), done(finished), completed(finished))) == [
        Reasoning(id="rs_1", sealed="enc")
    ]


def test_sources_come_as_they_are_told_or_with_the_item(hear: Hear) -> None:
    one = {"type": "url_citation", "url": "a", "title": "t", "start_index": 0, "end_index": 1}
    two = {"type": "file_citation", "file_id": "f", "filename": "n.txt", "index": 1}

    (text,) = parts(
        hear(
            CREATED,
            added(MESSAGE),
            delta("output_text", "x"),
            {"type": "response.output_text.annotation.added", "annotation": one},
            done(message("x", annotations=[one, two])),
            completed(),
        )
    )

    assert [json.loads(bytes(c.raw)) for c in text.citations] == [one, two]
    assert [(c.url, c.title, c.end) for c in text.citations] == [
        ("a", "t", 1),
        (None, "n.txt", None),
    ]


def test_other_items_are_kept_whole_and_their_events_are_not_needed(hear: Hear) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"q": 1}}

    (part,) = parts(
        hear(
            CREATED,
            added({**search, "status": "in_progress"}),
            {"type": "response.web_search_call.searching", "output_index": 0},
            {"type": "response.shell_call_output_content.delta", "delta": {"stdout": "x"}},
            {"type": "response.novelty", "output_index": "zero"},
            done(search),
            completed(search),
        )
    )

    assert isinstance(part, Foreign)
    assert (part.type, json.loads(bytes(part.raw))) == ("web_search_call", search)


def test_a_picture_is_a_picture(hear: Hear) -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}

    found = parts(hear(CREATED, done({**drawn, "result": "AAAA"}, 0), done(drawn, 1), completed()))

    picture, failed = found
    assert isinstance(picture, Media)
    assert (picture.data, picture.media_type) == ("AAAA", "image/png")
    assert isinstance(failed, Foreign)


def test_the_phase_of_a_message_is_kept(hear: Hear) -> None:
    written = {**MESSAGE, "phase": "commentary"}

    (text,) = parts(
        hear(CREATED, added(written), delta("output_text", "a"), done(written), completed())
    )

    assert text.extra == {"phase": Raw(b'"commentary"')}
