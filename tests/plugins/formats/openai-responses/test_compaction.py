"""The compact variant, and the item that asks an ordinary request for the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway_format_openai_responses._summary import INTRODUCTION, REQUEST
from gateway_format_openai_responses.grammar import GRAMMAR
from msgspec import Raw
from openai.types.responses import CompactedResponse, Response

from gateway_core import (
    BadRequest,
    Call,
    Choice,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Finish,
    Foreign,
    Losses,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Target,
    Text,
    ToolChoice,
    Turn,
    UpstreamError,
    Usage,
    UsageReported,
    VendorSide,
    WireFormat,
)
from gateway_formats.fold import unfold
from gateway_formats.grammar import find_violation

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[Json, list[str]]]
Aim = Callable[..., Target]

TOOL = {"type": "function", "name": "f"}
SUMMARY = Reply(
    id="r1",
    model="m",
    created=5,
    choices=(Choice(parts=(Reasoning(text="hm"), Text(text=" all of it "))),),
    usage=Usage(input_tokens=7, output_tokens=3),
)


@pytest.fixture
def compacter(compact: WireFormat) -> ClientSide:
    assert compact.client is not None
    return compact.client


@pytest.fixture
def compacting(compact: WireFormat) -> VendorSide:
    assert compact.vendor is not None
    return compact.vendor


@pytest.fixture
def received(compacter: ClientSide, call: Callable[..., Call]) -> Conversation:
    body = {
        "model": "m",
        "input": "q",
        "tools": [TOOL],
        "text": {"format": {"type": "json_object"}},
    }
    return compacter.read_request(call(body))


def test_the_model_is_asked_for_a_summary_in_a_last_turn(received: Conversation) -> None:
    assert received.turns[-1] == Turn("user", (Text(text=REQUEST),))
    assert received.turns[0] == Turn("user", (Text(text="q"),))
    assert (received.tool_choice, received.output) == (ToolChoice("none"), None)


def test_the_client_field_for_it_is_dropped(
    compacter: ClientSide, call: Callable[..., Call]
) -> None:
    conversation = compacter.read_request(call({"model": "m", "input": "q", "_compact": True}))

    assert conversation.extra == {}
    assert conversation.tool_choice is None


def test_the_answer_is_the_endpoints_own_object(
    compacter: ClientSide, received: Conversation
) -> None:
    body = compacter.write_reply(SUMMARY, received, Losses())

    answer = CompactedResponse.model_validate_json(body)
    assert (answer.id, answer.object, answer.created_at) == ("resp_r1", "response.compaction", 5)
    assert answer.usage.total_tokens == 10
    (item,) = answer.output
    assert item.type == "compaction"
    assert item.id.startswith("cmp_")
    assert "all of it" not in item.encrypted_content


def test_the_summary_is_opened_again_by_a_later_request(
    compacter: ClientSide, received: Conversation, ask: Ask
) -> None:
    items = json.loads(compacter.write_reply(SUMMARY, received, Losses()))["output"]

    turns = ask([*items, {"role": "user", "content": "go on"}]).turns

    assert turns == (
        Turn("user", (Text(text=f"{INTRODUCTION}\n\nall of it"),)),
        Turn("user", (Text(text="go on"),)),
    )


def test_an_answer_without_usage_still_has_the_member(
    compacter: ClientSide, received: Conversation
) -> None:
    reply = Reply(id="r", model="m", choices=(Choice(parts=(Text(text="x"),)),))

    answer = CompactedResponse.model_validate_json(compacter.write_reply(reply, received, Losses()))

    assert answer.usage.total_tokens == 0


@pytest.mark.parametrize(
    ("part", "finish"),
    [
        (Text(text="  "), "stop"),
        (Refusal(text="no"), "refusal"),
        (Text(text="I can not"), "content_filter"),
    ],
)
def test_no_summary_is_an_error_because_the_client_would_lose_its_history(
    compacter: ClientSide, received: Conversation, part: Any, finish: Finish
) -> None:
    reply = Reply(id="r", model="m", choices=(Choice(parts=(part,), finish=finish),))

    with pytest.raises(UpstreamError, match="no summary"):
        compacter.write_reply(reply, received, Losses())


def test_a_stream_shows_the_compaction_alone(
    compacter: ClientSide,
    received: Conversation,
    frames: Callable[[bytes], list[Json]],
    by_library: Callable[..., Response],
) -> None:
    writer = compacter.stream_writer(received, Losses())

    stream = b"".join(writer.feed([event]) for event in unfold(SUMMARY)) + writer.close()

    assert [frame["type"] for frame in frames(stream)] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ]
    (item,) = by_library(stream).output
    whole = json.loads(compacter.write_reply(SUMMARY, received, Losses()))
    assert [item.model_dump(exclude_none=True)] == whole["output"]


def test_the_client_is_kept_awake_while_it_sees_nothing(
    compacter: ClientSide, received: Conversation
) -> None:
    writer = compacter.stream_writer(received, Losses())
    writer.feed([ReplyStarted("r", "m"), PartStarted(0, Text(text=""))])

    assert writer.feed([PartGrew(0, "more")]) == b": keepalive\n\n"


@pytest.mark.parametrize("count", range(5))
def test_a_stream_that_fails_says_so(
    compacter: ClientSide, received: Conversation, count: int, frames: Callable[[bytes], list[Json]]
) -> None:
    writer = compacter.stream_writer(received, Losses())
    events = [*unfold(SUMMARY)[:count], ReplyFailed("broke", status=503)]

    stream = writer.feed(events) + writer.feed([UsageReported(Usage())]) + writer.close()

    reported = [frame["type"] for frame in frames(stream)]
    assert reported[-2:] == (["error", "response.failed"] if count else ["error"])
    assert find_violation(GRAMMAR, stream) is None


def test_a_stream_without_a_summary_fails(
    compacter: ClientSide, received: Conversation, frames: Callable[[bytes], list[Json]]
) -> None:
    writer = compacter.stream_writer(received, Losses())
    events: list[StreamEvent] = [
        ReplyStarted("r", "m"),
        PartStarted(0, Text(text="")),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]

    stream = writer.feed(events) + writer.close()

    assert "no summary" in frames(stream)[-1]["response"]["error"]["message"]


def test_a_last_item_asks_an_ordinary_request_for_the_same(
    client: ClientSide, ask: Ask, by_library: Callable[..., Response]
) -> None:
    conversation = ask([{"role": "user", "content": "q"}, {"type": "compaction_trigger"}])

    writer = client.stream_writer(conversation, Losses())
    stream = writer.feed(unfold(SUMMARY)) + writer.close()

    assert conversation.turns[-1].parts == (Text(text=REQUEST),)
    assert [item.type for item in by_library(stream).output] == ["compaction"]
    whole = json.loads(client.write_reply(SUMMARY, conversation, Losses()))
    assert (whole["object"], len(whole["output"])) == ("response", 1)


def test_an_item_that_asks_too_early_asks_for_nothing(ask: Ask) -> None:
    conversation = ask([{"type": "compaction_trigger"}, {"role": "user", "content": "q"}])

    assert conversation.turns == (Turn("user", (Text(text="q"),)),)


NATIVE = {
    "id": "resp_9",
    "object": "response.compaction",
    "created_at": 9,
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "user",
            "status": "completed",
            "content": [{"type": "input_text", "text": "q"}],
        },
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 6, "total_tokens": 11},
}


def test_a_vendor_that_compacts_by_itself_is_not_asked_for_a_summary(
    compacting: VendorSide, received: Conversation, aim: Aim
) -> None:
    losses = Losses()

    body = json.loads(compacting.write_request(received, aim(), losses))

    assert body == {
        "model": "m-1",
        "input": [{"type": "message", "role": "user", "content": "q"}],
    }
    assert list(losses.names) == ["tools"]
    assert compacting.path("m", False) == "/responses/compact"


def test_what_it_gives_goes_to_the_client_as_it_is(
    compacting: VendorSide, compacter: ClientSide, received: Conversation
) -> None:
    reply = compacting.read_reply(json.dumps(NATIVE).encode())

    answer = json.loads(compacter.write_reply(reply, received, Losses()))

    assert answer["output"] == NATIVE["output"]
    assert (answer["id"], answer["created_at"]) == ("resp_9", 9)
    assert reply.usage == Usage(input_tokens=5, output_tokens=6)


def test_its_whole_answer_is_read_as_a_stream_where_one_is_wanted(
    compacting: VendorSide,
    compacter: ClientSide,
    received: Conversation,
    frames: Callable[[bytes], list[Json]],
) -> None:
    reader, writer = compacting.stream_reader(), compacter.stream_writer(received, Losses())
    body = json.dumps(NATIVE).encode()

    events = [*reader.feed(body[:20]), *reader.feed(body[20:]), *reader.close()]
    stream = writer.feed(events) + writer.close()

    assert frames(stream)[-1]["response"]["output"] == NATIVE["output"]


@pytest.mark.parametrize("body", [b"", b"{}", b"no", b'{"error":{"message":"bad"}}'])
def test_nonsense_from_it_is_an_error(compacting: VendorSide, body: bytes) -> None:
    reader = compacting.stream_reader()
    reader.feed(body)

    assert isinstance(reader.close()[-1], ReplyFailed)
    with pytest.raises(UpstreamError):
        compacting.read_reply(body)


def test_its_answer_passes_through(
    compacting: VendorSide, call: Callable[..., Call], aim: Aim
) -> None:
    members = {"stream": Raw(b"false"), "model": Raw(b'"m"')}
    body = json.dumps(NATIVE).encode()
    relay = compacting.relay(call({}), aim(), members)

    passed = relay.feed(body) + relay.close()

    assert passed == body
    assert relay.usage == Usage(input_tokens=5, output_tokens=6)
    assert members == {"model": Raw(b'"m"')}


def test_its_answer_passes_as_a_stream_where_one_is_wanted(
    compacting: VendorSide,
    call: Callable[..., Call],
    aim: Aim,
    frames: Callable[[bytes], list[Json]],
) -> None:
    relay = compacting.relay(call({}, stream=True), aim(), {"stream": Raw(b"true")})

    stream = relay.feed(json.dumps(NATIVE).encode()) + relay.close()

    assert find_violation(GRAMMAR, stream) is None
    assert frames(stream)[-1]["response"]["output"] == NATIVE["output"]
    assert relay.usage == Usage(input_tokens=5, output_tokens=6)
    assert relay.started
    assert relay.failure is None


def test_a_stream_made_of_nonsense_is_an_error_frame(
    compacting: VendorSide,
    call: Callable[..., Call],
    aim: Aim,
    frames: Callable[[bytes], list[Json]],
) -> None:
    relay = compacting.relay(call({}, stream=True), aim(), {})

    stream = relay.feed(b"nonsense") + relay.close() + relay.close()

    assert [frame["type"] for frame in frames(stream)] == ["error"]
    assert relay.failure is not None
    assert not relay.started


def test_it_refuses_an_empty_conversation(compacter: ClientSide, call: Callable[..., Call]) -> None:
    with pytest.raises(BadRequest):
        compacter.read_request(call({"model": "m", "input": []}))


def test_another_vendors_compaction_stays_closed(ask: Ask) -> None:
    (turn,) = ask([{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}]).turns

    assert isinstance(turn.parts[0], Foreign)
