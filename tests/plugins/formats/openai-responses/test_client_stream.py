"""What a client gets, streamed and whole, of an answer of any vendor."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_format_openai_responses.grammar import GRAMMAR
from msgspec import Raw
from openai.types.responses import Response

from gateway_core import (
    Choice,
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Losses,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyStarted,
    StreamEvent,
    Text,
    Thinking,
    ToolCall,
    Usage,
    UsageReported,
    unseal_id,
)
from gateway_formats.fold import unfold
from gateway_formats.grammar import find_violation

Json = dict[str, Any]
Stream = Callable[..., bytes]
Frames = Callable[[bytes], list[Json]]
STARTED = ReplyStarted("chatcmpl-1", "vendor-model", 1700000000)
OWN = "openai-responses"


def whole(client: ClientSide, *parts: Any, **more: Any) -> Json:
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, **more),))
    return dict(json.loads(client.write_reply(reply, Conversation(), Losses())))


def test_every_event_of_a_text(stream: Stream, frames: Frames) -> None:
    events: list[StreamEvent] = [
        STARTED,
        PartStarted(0, Text(text="")),
        PartGrew(0, "Hél"),
        PartGrew(0, "lo"),
        PartEnded(0),
        ChoiceEnded("stop"),
        UsageReported(Usage(input_tokens=3, output_tokens=2, cached_tokens=1)),
    ]

    reported = frames(stream(events))

    assert [frame["type"] for frame in reported] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    created, final = reported[0]["response"], reported[-1]["response"]
    assert (created["id"], created["status"], created["output"]) == (
        "resp_chatcmpl-1",
        "in_progress",
        [],
    )
    assert (created["model"], created["created_at"]) == ("vendor-model", 1700000000)
    item = reported[2]["item"]
    assert (item["status"], item["content"], item["role"]) == ("in_progress", [], "assistant")
    assert item["id"].startswith("msg_")
    assert {frame["item_id"] for frame in reported[3:8]} == {item["id"]}
    assert [frame["delta"] for frame in reported[4:6]] == ["Hél", "lo"]
    assert reported[4]["logprobs"] == []
    assert reported[6]["text"] == reported[7]["part"]["text"] == "Héllo"
    assert reported[8]["item"] == final["output"][0]
    assert (final["status"], final["id"]) == ("completed", created["id"])
    assert final["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


def test_every_event_of_thinking(stream: Stream, frames: Frames) -> None:
    def kinds(part: Reasoning) -> list[str]:
        events = [STARTED, PartStarted(0, part), PartGrew(0, "a"), PartEnded(0)]
        reported = frames(stream([*events, ChoiceEnded("stop")]))
        return [frame["type"].removeprefix("response.") for frame in reported[3:-2]]

    assert kinds(Reasoning(summary=True)) == [
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
    ]
    assert kinds(Reasoning()) == [
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
    ]


@pytest.mark.parametrize("wanted", ["auto", "detailed", "none", None])
def test_who_asked_for_a_summary_gets_any_thinking_as_one(
    client: ClientSide, stream: Stream, frames: Frames, wanted: str | None
) -> None:
    received = Conversation(model="m", thinking=Thinking(summary=wanted))
    part = Reasoning(text="so", signature="c2ln", origin="v")
    reply = Reply(id="r", model="m", choices=(Choice(parts=(part,)),))

    item = json.loads(client.write_reply(reply, received, Losses()))["output"][0]
    kinds = [frame["type"] for frame in frames(stream(unfold(reply), received))]

    is_summary = wanted in ("auto", "detailed")
    place = "summary" if is_summary else "content"
    assert [each["text"] for each in item[place]] == ["so"]
    assert bool(item["summary"]) is ("response.reasoning_summary_text.delta" in kinds) is is_summary
    (_, _, _, kept) = unseal_id(item["encrypted_content"])
    assert kept == (part,)


def test_every_event_of_calls_and_refusals(stream: Stream, frames: Frames) -> None:
    parts = (
        Refusal(text="no"),
        ToolCall(id="c1", name="f", arguments='{"a":1}'),
        ToolCall(id="c2", name="g", arguments="free", custom=True),
    )
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, finish="tool_calls"),))

    reported = frames(stream(unfold(reply)))

    kinds = [frame["type"].removeprefix("response.") for frame in reported[2:-1]]
    assert kinds == [
        "output_item.added",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    refusal, call, custom = reported[-1]["response"]["output"]
    assert refusal["content"] == [{"type": "refusal", "refusal": "no"}]
    assert (call["call_id"], call["name"], call["arguments"]) == ("c1", "f", '{"a":1}')
    assert call["id"].startswith("fc_")
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "free")
    assert custom["id"].startswith("ctc_")


def test_parts_that_overlap_are_items_one_after_another(
    stream: Stream, frames: Frames, by_library: Callable[..., Response]
) -> None:
    events: list[StreamEvent] = [
        STARTED,
        PartStarted(0, Text(text="")),
        PartGrew(0, "one "),
        PartStarted(1, ToolCall(id="c1", name="f")),
        PartStarted(2, ToolCall(id="c2", name="g")),
        PartGrew(2, '{"b":'),
        PartGrew(1, '{"a":'),
        PartGrew(0, "two"),
        PartGrew(2, "2}"),
        PartGrew(1, "1}"),
        PartEnded(1),
        PartStarted(3, Text(text="")),
        PartEnded(0),
        PartGrew(3, "three"),
        PartEnded(2),
        PartEnded(3),
        ChoiceEnded("tool_calls"),
    ]

    written = stream(events)

    assert find_violation(GRAMMAR, written) is None
    output = by_library(written).output
    assert [item.type for item in output] == [
        "message",
        "function_call",
        "function_call",
        "message",
    ]
    assert [getattr(item, "arguments", None) for item in output[1:3]] == ['{"a":1}', '{"b":2}']
    ends = [f["output_index"] for f in frames(written) if f["type"] == "response.output_item.done"]
    assert ends == [0, 1, 2, 3]


def test_texts_that_follow_one_another_are_one_message(client: ClientSide) -> None:
    (message,) = whole(client, Text(text="a"), Refusal(text="b"), Text(text="c"))["output"]

    assert [piece["type"] for piece in message["content"]] == [
        "output_text",
        "refusal",
        "output_text",
    ]


def test_a_text_of_another_phase_is_another_message(client: ClientSide) -> None:
    first = Text(text="a", extra={"phase": Raw(b'"commentary"')})
    second = Text(text="b", extra={"phase": Raw(b'"final_answer"')})

    output = whole(client, first, second)["output"]

    assert [item["phase"] for item in output] == ["commentary", "final_answer"]


def test_ids_differ_and_are_the_same_each_time(client: ClientSide) -> None:
    parts = (Text(text="a"), ToolCall(id="", name="f"), Text(text="b"), ToolCall(id="", name="f"))

    output = whole(client, *parts)["output"]

    assert output == whole(client, *parts)["output"]
    assert len({item["id"] for item in output}) == 4
    assert all(len(item["id"]) <= 64 for item in output)
    assert len({item["call_id"] for item in output if "call_id" in item}) == 2


def test_a_call_id_that_comes_twice_stays_apart(client: ClientSide) -> None:
    calls = (ToolCall(id="same", name="f"), ToolCall(id="same", name="g"))

    output = whole(client, *calls)["output"]

    assert [item["call_id"] for item in output] == ["same", "same_1"]


def test_a_thought_id_that_comes_twice_stays_apart(client: ClientSide) -> None:
    output = whole(client, Reasoning(text="a", id="rs_1"), Reasoning(text="b", id="rs_1"))["output"]

    assert output[0]["id"] == "rs_1" != output[1]["id"]


def test_a_call_without_arguments_can_be_parsed(client: ClientSide) -> None:
    (call,) = whole(client, ToolCall(id="c", name="f"))["output"]
    (free,) = whole(client, ToolCall(id="c", name="f", custom=True))["output"]

    assert (call["arguments"], free["input"]) == ("{}", "")


def test_sources_are_annotations(client: ClientSide, stream: Stream, frames: Frames) -> None:
    own = {"type": "file_citation", "file_id": "f", "filename": "n", "index": 0}
    citations = (
        Citation(url="https://a.example", title="A", start=1, end=2),
        Citation(url="https://b.example"),
        Citation(raw=Raw(json.dumps(own).encode()), dialect=OWN),
    )
    events: list[StreamEvent] = [STARTED, PartStarted(0, Text(text="", citations=citations[:1]))]
    events += [CitationAdded(0, citation) for citation in citations[1:]]
    events += [PartGrew(0, "four"), PartEnded(0), ChoiceEnded("stop")]

    reported = frames(stream(events))

    annotations = reported[-1]["response"]["output"][0]["content"][0]["annotations"]
    assert annotations == [
        {
            "type": "url_citation",
            "start_index": 1,
            "end_index": 2,
            "url": "https://a.example",
            "title": "A",
        },
        {
            "type": "url_citation",
            "start_index": 0,
            "end_index": 4,
            "url": "https://b.example",
            "title": "",
        },
        own,
    ]
    added = [f for f in reported if f["type"] == "response.output_text.annotation.added"]
    assert [frame["annotation"] for frame in added] == annotations
    assert [frame["annotation_index"] for frame in added] == [0, 1, 2]


def test_a_source_without_an_address_is_a_loss(client: ClientSide) -> None:
    losses = Losses()
    cited = Text(text="a", citations=(Citation(document=1, quote="q"),))
    reply = Reply(id="r", model="m", choices=(Choice(parts=(cited,)),))

    client.write_reply(reply, Conversation(), losses)

    assert list(losses.names) == ["citations"]


ROW = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
OTHER = {"token": "b", "logprob": -0.25, "bytes": [98], "top_logprobs": []}


def test_log_probabilities_stand_with_their_text(stream: Stream, frames: Frames) -> None:
    rows = Raw(json.dumps({"content": [ROW], "refusal": None}).encode())
    events: list[StreamEvent] = [
        STARTED,
        PartStarted(0, Text(text="")),
        PartGrew(0, "a", 0, rows),
        PartGrew(0, "b", 0, Raw(b'{"content":null}')),
        PartGrew(0, "c", 0, Raw(b"[]")),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]

    reported = frames(stream(events))

    deltas = [frame["logprobs"] for frame in reported if frame["type"].endswith("text.delta")]
    assert deltas == [[ROW], [], []]
    done = next(frame for frame in reported if frame["type"] == "response.output_text.done")
    assert done["logprobs"] == [ROW]
    assert reported[-1]["response"]["output"][0]["content"][0]["logprobs"] == [ROW]


def test_log_probabilities_of_a_whole_answer_are_dealt_out(client: ClientSide) -> None:
    logprobs = Raw(json.dumps({"content": [ROW, OTHER]}).encode())
    parts = (Text(text="a"), ToolCall(id="c", name="f"), Text(text="b"))

    output = whole(client, *parts, logprobs=logprobs)["output"]

    assert [item["content"][0]["logprobs"] for item in output if "content" in item] == [
        [ROW],
        [OTHER],
    ]
