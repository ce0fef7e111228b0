"""The object that ends an answer, and failures, whatever the vendor."""

import json
from collections.abc import Callable
from typing import Any

import pytest
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

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Stream = Callable[..., bytes]
Frames = Callable[[bytes], list[Json]]
STARTED = ReplyStarted("chatcmpl-1", "vendor-model", 1700000000)
OWN = "openai-responses"


def whole(client: ClientSide, *parts: Any, **more: Any) -> Json:
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, **more),))
    return dict(json.loads(client.write_reply(reply, Conversation(), Losses())))


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

    written = json.loads(body)
    assert {name: written[name] for name in members} == members
    assert parse(body).tool_choice is not None


def test_what_was_not_asked_has_its_usual_value(
    client: ClientSide, parse: Callable[..., Response]
) -> None:
    body = client.write_reply(
        Reply(id="resp_r", model="", choices=()), Conversation(model="m"), Losses()
    )

    written = json.loads(body)
    assert parse(body).id == "resp_r"
    assert written == {
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

    reported = frames(stream([*events, PartGrew(0, "after"), ChoiceEnded("stop")]))

    error, failed = reported[-2:]
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
    assert [frame["sequence_number"] for frame in reported] == list(range(len(reported)))


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("invalid_prompt", "invalid_prompt"),
        ("context_length_exceeded", "context_length_exceeded"),
        ("insufficient_quota", "insufficient_quota"),
        ("novelty", "server_error"),
        (None, "server_error"),
    ],
)
def test_a_failed_answer_has_a_code_that_clients_know(
    stream: Stream, frames: Frames, code: str | None, reported: str
) -> None:
    failed = frames(stream([STARTED, ReplyFailed("x", None, code)]))[-1]

    assert failed["response"]["error"]["code"] == reported


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
