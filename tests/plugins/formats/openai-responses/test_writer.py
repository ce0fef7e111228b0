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
    Finish,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UsageReported,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import violation

Json = dict[str, Any]
Ask = Callable[..., Conversation]
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

    told = frames(stream(events))

    assert [frame["type"] for frame in told] == [
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
    created, final = told[0]["response"], told[-1]["response"]
    assert (created["id"], created["status"], created["output"]) == (
        "resp_chatcmpl-1",
        "in_progress",
        [],
    )
    assert (created["model"], created["created_at"]) == ("vendor-model", 1700000000)
    item = told[2]["item"]
    assert (item["status"], item["content"], item["role"]) == ("in_progress", [], "assistant")
    assert item["id"].startswith("msg_")
    assert {frame["item_id"] for frame in told[3:8]} == {item["id"]}
    assert [frame["delta"] for frame in told[4:6]] == ["Hél", "lo"]
    assert told[4]["logprobs"] == []
    assert told[6]["text"] == told[7]["part"]["text"] == "Héllo"
    assert told[8]["item"] == final["output"][0]
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
        told = frames(stream([*events, ChoiceEnded("stop")]))
        return [frame["type"].removeprefix("response.") for frame in told[3:-2]]

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


def test_every_event_of_calls_and_refusals(stream: Stream, frames: Frames) -> None:
    parts = (
        Refusal(text="no"),
        ToolCall(id="c1", name="f", arguments='{"a":1}'),
        ToolCall(id="c2", name="g", arguments="free", custom=True),
    )
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, finish="tool_calls"),))

    told = frames(stream(unfold(reply)))

    kinds = [frame["type"].removeprefix("response.") for frame in told[2:-1]]
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
    refusal, call, custom = told[-1]["response"]["output"]
    assert refusal["content"] == [{"type": "refusal", "refusal": "no"}]
    assert (call["call_id"], call["name"], call["arguments"]) == ("c1", "f", '{"a":1}')
    assert call["id"].startswith("fc_")
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "free")
    assert custom["id"].startswith("ctc_")


def test_parts_may_overlap(
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

    assert violation(GRAMMAR, written) is None
    output = by_library(written).output
    assert [item.type for item in output] == [
        "message",
        "function_call",
        "function_call",
        "message",
    ]
    assert [getattr(item, "arguments", None) for item in output[1:3]] == ['{"a":1}', '{"b":2}']
    ends = [f["output_index"] for f in frames(written) if f["type"] == "response.output_item.done"]
    assert ends == [1, 0, 2, 3]


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

    told = frames(stream(events))

    annotations = told[-1]["response"]["output"][0]["content"][0]["annotations"]
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
    added = [f for f in told if f["type"] == "response.output_text.annotation.added"]
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

    told = frames(stream(events))

    deltas = [frame["logprobs"] for frame in told if frame["type"].endswith("text.delta")]
    assert deltas == [[ROW], [], []]
    done = next(frame for frame in told if frame["type"] == "response.output_text.done")
    assert done["logprobs"] == [ROW]
    assert told[-1]["response"]["output"][0]["content"][0]["logprobs"] == [ROW]


def test_log_probabilities_of_a_whole_answer_are_dealt_out(client: ClientSide) -> None:
    logprobs = Raw(json.dumps({"content": [ROW, OTHER]}).encode())
    parts = (Text(text="a"), ToolCall(id="c", name="f"), Text(text="b"))

    output = whole(client, *parts, logprobs=logprobs)["output"]

    assert [item["content"][0]["logprobs"] for item in output if "content" in item] == [
        [ROW],
        [OTHER],
    ]


@pytest.mark.parametrize(
    ("finish", "status", "details"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("pause", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
        ("refusal", "incomplete", {"reason": "content_filter"}),
        ("error", "failed", None),
    ],
)
def test_why_an_answer_ended(
    client: ClientSide,
    stream: Stream,
    frames: Frames,
    finish: Finish,
    status: str,
    details: Json | None,
) -> None:
    parts = (Reasoning(text="a"), Text(text="b"))
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, finish=finish),))

    final = frames(stream(unfold(reply)))[-1]

    answer = final["response"]
    assert final["type"] == f"response.{status}"
    assert (answer["status"], answer["incomplete_details"]) == (status, details)
    assert (answer["error"] is None) == (finish != "error")
    assert answer["output"][0]["status"] == "completed"
    assert answer["output"][1]["status"] == ("completed" if status == "completed" else "incomplete")
    assert whole(client, *parts, finish=finish) == {**answer, "id": "resp_r", "created_at": 0}


def test_a_refusal_in_words_is_a_complete_answer(client: ClientSide) -> None:
    assert whole(client, Refusal(text="no"), finish="refusal")["status"] == "completed"


def test_what_was_asked_is_said_again(
    client: ClientSide, ask: Ask, parse: Callable[..., Response]
) -> None:
    members = {
        "instructions": "be brief",
        "max_output_tokens": 50,
        "max_tool_calls": 3,
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "previous_response_id": "resp_0",
        "prompt_cache_key": "k",
        "reasoning": {"effort": "low", "summary": "auto", "context": "auto"},
        "service_tier": "flex",
        "temperature": 0.5,
        "text": {
            "format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}},
            "verbosity": "low",
        },
        "tool_choice": {"type": "function", "name": "f"},
        "tools": [
            {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
            {"type": "web_search"},
        ],
        "top_logprobs": 2,
        "top_p": 0.25,
        "truncation": "auto",
        "user": "u",
    }

    body = client.write_reply(Reply(id="r", model="m", choices=()), ask(**members), Losses())

    said = json.loads(body)
    assert {name: said[name] for name in members} == members
    assert parse(body).tool_choice is not None


def test_what_was_not_asked_has_its_usual_value(
    client: ClientSide, parse: Callable[..., Response]
) -> None:
    body = client.write_reply(
        Reply(id="resp_r", model="", choices=()), Conversation(model="m"), Losses()
    )

    said = json.loads(body)
    assert parse(body).id == "resp_r"
    assert said == {
        "id": "resp_r",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "status": "completed",
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
        "background": False,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "user": None,
    }


def test_choices_beyond_the_first_are_left_out(client: ClientSide) -> None:
    losses, streamed = Losses(), Losses()
    choices = (Choice(parts=(Text(text="a"),)), Choice(parts=(Text(text="b"),)))
    reply = Reply(id="r", model="m", choices=choices)

    body = json.loads(client.write_reply(reply, Conversation(), losses))
    writer = client.stream_writer(Conversation(), streamed)
    frames = writer.feed(unfold(reply)) + writer.close()

    assert len(body["output"]) == 1
    assert list(losses.names) == list(streamed.names) == ["candidates"]
    assert b'"text":"b"' not in frames


def test_a_picture_is_what_the_vendors_own_tool_gives(
    client: ClientSide, parse: Callable[..., Response]
) -> None:
    drawn = Media(kind="image", data="AAAA", media_type="image/webp")
    reply = Reply(id="r", model="m", choices=(Choice(parts=(drawn, Text(text="a"))),))

    body = client.write_reply(reply, Conversation(), Losses())

    (picture, _) = parse(body).output
    assert (picture.type, getattr(picture, "result", None)) == ("image_generation_call", "AAAA")
    assert picture.id.startswith("ig_")  # type: ignore[union-attr]


def test_this_dialects_own_items_pass(client: ClientSide) -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    part = Foreign(dialect=OWN, type="web_search_call", raw=Raw(json.dumps(item).encode()))

    assert whole(client, part)["output"] == [item]


@pytest.mark.parametrize(
    ("part", "loss"),
    [
        (Foreign(dialect="other", type="server_tool_use", raw=Raw(b"{}")), "part:server_tool_use"),
        (Media(kind="audio", data="AAAA"), "audio"),
        (Media(kind="image", url="https://a.example"), "image"),
        (ToolResult(call_id="c"), "part:tool_result"),
    ],
)
def test_what_cannot_be_shown_is_a_loss(client: ClientSide, part: Any, loss: str) -> None:
    losses = Losses()
    reply = Reply(id="r", model="m", choices=(Choice(parts=(part, Text(text="a"))),))

    body = json.loads(client.write_reply(reply, Conversation(), losses))

    assert list(losses.names) == [loss]
    assert len(body["output"]) == 1


def test_a_failure_is_told_in_both_ways_that_clients_know(stream: Stream, frames: Frames) -> None:
    failure = ReplyFailed("too many", "rate_limit_error", "rate_limit_exceeded", 429, 3.0)
    events: list[StreamEvent] = [STARTED, PartStarted(0, Text(text="")), PartGrew(0, "a"), failure]

    told = frames(stream([*events, PartGrew(0, "after"), ChoiceEnded("stop")]))

    error, failed = told[-2:]
    assert (error["type"], error["code"], error["message"], error["param"]) == (
        "error",
        "rate_limit_exceeded",
        "too many",
        None,
    )
    assert error["error"] == {
        "type": "rate_limit_error",
        "code": "rate_limit_exceeded",
        "message": "too many",
        "param": None,
    }
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {"code": "rate_limit_exceeded", "message": "too many"}
    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("invalid_prompt", "invalid_prompt"),
        ("context_length_exceeded", "context_length_exceeded"),
        ("insufficient_quota", "insufficient_quota"),
        ("novelty", "server_error"),
        (None, "server_error"),
    ],
)
def test_a_failed_answer_has_a_code_that_clients_know(
    stream: Stream, frames: Frames, code: str | None, told: str
) -> None:
    failed = frames(stream([STARTED, ReplyFailed("x", None, code)]))[-1]

    assert failed["response"]["error"]["code"] == told


def test_a_failure_before_the_beginning_is_an_error_alone(stream: Stream, frames: Frames) -> None:
    (frame,) = frames(stream([ReplyFailed("no")]))

    assert (frame["type"], frame["code"], frame["sequence_number"]) == ("error", "bad_gateway", 0)


def test_an_answer_that_never_began_is_a_failure(stream: Stream, frames: Frames) -> None:
    assert [frame["type"] for frame in frames(stream([]))] == ["error"]


def test_nothing_follows_the_end(client: ClientSide) -> None:
    writer = client.stream_writer(Conversation(), Losses())
    writer.feed([STARTED, ChoiceEnded("stop")])
    writer.close()

    assert writer.close() == b""
    assert writer.feed([PartStarted(0, Text(text="x")), ReplyFailed("late")]) == b""


def test_parts_left_open_are_ended(stream: Stream, by_library: Callable[..., Response]) -> None:
    parts: list[Any] = [
        Text(text=""),
        Refusal(text=""),
        Reasoning(),
        ToolCall(id="c", name="f"),
    ]
    events: list[StreamEvent] = [STARTED]
    for index, part in enumerate(parts):
        events += [PartStarted(index, part), PartGrew(index, "{}")]

    answer = by_library(stream(events))

    assert [item.type for item in answer.output] == ["message", "reasoning", "function_call"]


def test_parts_may_start_with_their_text(
    client: ClientSide, stream: Stream, frames: Frames
) -> None:
    parts: tuple[Any, ...] = (
        Text(text="a", citations=(Citation(url="u"),)),
        ToolCall(id="c", name="f", arguments="1"),
    )
    events: list[StreamEvent] = [ReplyStarted("r", "m")]
    for index, part in enumerate(parts):
        events += [PartStarted(index, part), PartEnded(index)]

    final = frames(stream([*events, ChoiceEnded("stop")], Conversation()))[-1]["response"]

    assert final == whole(client, *parts)


def test_events_of_parts_that_were_left_out_do_no_harm(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(Conversation(), losses)
    left_out = Foreign(dialect="other", type="x", raw=Raw(b"{}"))

    frames = writer.feed(
        [
            STARTED,
            PartStarted(0, left_out),
            PartGrew(0, "a"),
            CitationAdded(0, Citation(url="u")),
            PartEnded(0),
            PartGrew(0, "b", 1),
            PartEnded(0, 1),
        ]
    )

    assert frames.count(b"event:") == 2
    assert list(losses.names) == ["part:x"]


def test_a_gathered_stream_gives_the_same_final_object(
    client: ClientSide, stream: Stream, frames: Frames
) -> None:
    events: list[StreamEvent] = [
        STARTED,
        PartStarted(0, Reasoning(summary=True)),
        PartGrew(0, "hm"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "a"),
        CitationAdded(1, Citation(url="u")),
        PartEnded(1),
        UsageReported(Usage(input_tokens=1)),
        ChoiceEnded("length"),
    ]

    final = frames(stream(events, Conversation(model="m")))[-1]["response"]

    body = client.write_reply(gather(events), Conversation(model="m"), Losses())
    assert json.loads(body) == final


def test_members_of_another_dialect_that_have_the_same_name_are_not_taken(
    client: ClientSide,
) -> None:
    foreign = {"caller": Raw(b'{"type":"code_execution"}'), "namespace": Raw(b"7")}
    own = {"caller": Raw(b'{"type":"direct"}'), "namespace": Raw(b'"n"')}

    output = whole(
        client,
        ToolCall(id="c1", name="f", extra=foreign),
        ToolCall(id="c2", name="f", extra=own),
        ToolCall(id="c3", name="f", extra={"caller": Raw(b"7")}),
        Text(text="a", extra={"phase": Raw(b"{}")}),
    )["output"]

    assert "caller" not in output[0]
    assert "namespace" not in output[0]
    assert (output[1]["caller"], output[1]["namespace"]) == ({"type": "direct"}, "n")
    assert "caller" not in output[2]
    assert "phase" not in output[3]
