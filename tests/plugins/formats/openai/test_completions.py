"""Text completions, served as a chat with one message."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_openai import CHAT, COMPLETIONS
from msgspec import Raw
from openai.types import Completion

from gateway_core import (
    BadRequest,
    Call,
    Choice,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Foreign,
    Intake,
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
    Turn,
    Usage,
    UsageReported,
)
from gateway_formats.grammar import find_violation

CallWith = Callable[..., Call]
TOKENS = Raw(
    b'{"content":[{"token":"a","logprob":-1.5,"top_logprobs":[{"token":"b","logprob":-2.5}]},'
    b'{"token":"cd","logprob":-0.5,"top_logprobs":[]}]}'
)


@pytest.fixture
def read(older_client: ClientSide, call: CallWith) -> Callable[..., Conversation]:
    return lambda body, **members: older_client.read_request(call(body, **members))


def intake(body: dict[str, Any]) -> Intake:
    members = msgspec.json.decode(msgspec.json.encode(body), type=dict[str, Raw])
    return COMPLETIONS.endpoints[0].read({}, {}, members)


@pytest.mark.parametrize("prompt", ["hi", ["hi"]])
def test_one_prompt_is_one_user_message(
    read: Callable[..., Conversation], prompt: str | list[str]
) -> None:
    conversation = read({"model": "m", "prompt": prompt, "max_tokens": 3, "stop": "."})

    assert conversation.turns == (Turn("user", (Text(text="hi"),)),)
    assert (conversation.sampling.max_tokens, conversation.sampling.stop) == (3, (".",))
    assert conversation.dialect == "openai"


def test_other_members_pass_through(read: Callable[..., Conversation]) -> None:
    conversation = read({"prompt": "hi", "suffix": "s", "best_of": 2, "_x": 1, "user": "u"})

    assert conversation.extra == {"suffix": Raw(b'"s"'), "best_of": Raw(b"2")}
    assert conversation.user == "u"


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (None, "Missing prompt"),
        (["a", "b"], "multiple prompts not supported"),
        ([[1], [2]], "multiple prompts not supported"),
        ([1, 2], "Invalid prompt"),
        ([[1]], "Invalid prompt"),
        ([], "Invalid prompt"),
        (5, "Invalid prompt"),
        ({}, "Invalid prompt"),
    ],
)
def test_other_prompts_are_refused(
    read: Callable[..., Conversation], prompt: Any, message: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        read({"model": "m", "prompt": prompt})
    with pytest.raises(BadRequest) as early:
        intake({"model": "m", "prompt": prompt})

    assert refused.value.message == early.value.message == message


def test_a_body_that_is_no_object_is_refused(read: Callable[..., Conversation]) -> None:
    with pytest.raises(BadRequest, match="Invalid JSON body"):
        read(b"[1]")


def test_routing_needs_the_model_and_whether_to_stream() -> None:
    assert intake({"model": "m", "prompt": "x", "stream": True}) == Intake("m", True)


@pytest.mark.parametrize(
    ("output", "wanted", "top"),
    [(None, None, None), (0, True, None), (3, True, 3), (True, True, None), (False, False, None)],
)
def test_a_number_of_log_probabilities_is_a_wish_and_a_number(
    read: Callable[..., Conversation], output: Any, wanted: bool | None, top: int | None
) -> None:
    sampling = read({"prompt": "x", "logprobs": output}).sampling

    assert (sampling.logprobs, sampling.top_logprobs) == (wanted, top)


def test_a_wrong_number_of_log_probabilities_is_refused(
    read: Callable[..., Conversation],
) -> None:
    with pytest.raises(BadRequest, match="logprobs"):
        read({"prompt": "x", "logprobs": -1})


@pytest.mark.parametrize(
    ("given", "expected"),
    [("chatcmpl-1", "cmpl-1"), ("cmpl-1", "cmpl-1"), ("msg_1", "cmpl-msg_1")],
)
def test_the_answers_id_is_of_this_dialect(
    older_client: ClientSide, given: str, expected: str
) -> None:
    reply = Reply(id=given, model="m", choices=(Choice(),))

    written = older_client.write_reply(reply, Conversation(), Losses())

    assert msgspec.json.decode(written)["id"] == expected


def test_an_answer_is_written_in_full(older_client: ClientSide) -> None:
    losses = Losses()
    parts = (
        Reasoning(text="Hm."),
        Text(text="a"),
        Text(text="cd"),
        ToolCall(id="x", name="f"),
        Media(kind="image", data="AA=="),
        Foreign(dialect="claude", type="odd", raw=Raw(b"{}")),
    )
    reply = Reply(
        id="r",
        model="m",
        created=7,
        choices=(
            Choice(parts=parts, finish="tool_calls", logprobs=TOKENS),
            Choice(parts=(Refusal(text="No."),), finish="length"),
        ),
        usage=Usage(input_tokens=1, output_tokens=2),
    )

    written = older_client.write_reply(reply, Conversation(), losses)

    Completion.model_validate_json(written)
    body = msgspec.json.decode(written)
    assert (body["object"], body["created"], body["usage"]["total_tokens"]) == (
        "text_completion",
        7,
        3,
    )
    assert body["choices"] == [
        {
            "text": "acd",
            "index": 0,
            "logprobs": {
                "tokens": ["a", "cd"],
                "token_logprobs": [-1.5, -0.5],
                "top_logprobs": [{"b": -2.5}, {}],
                "text_offset": [0, 1],
            },
            "finish_reason": "stop",
        },
        {"text": "No.", "index": 1, "logprobs": None, "finish_reason": "length"},
    ]
    assert list(losses.names) == ["reasoning", "tool_calls", "image", "part:odd"]


def frames(written: bytes) -> list[Any]:
    found = [frame.removeprefix(b"data: ") for frame in written.split(b"\n\n") if frame]
    for frame in found[:-1]:
        row = msgspec.json.decode(frame)
        row["choices"] = [{**c, "finish_reason": "stop"} for c in row["choices"]]
        Completion.model_validate(row)
    return [frame if frame == b"[DONE]" else msgspec.json.decode(frame) for frame in found]


def stream(client: ClientSide, *events: StreamEvent, usage: bool = False) -> bytes:
    writer = client.stream_writer(Conversation(stream_usage=usage, model="asked"), Losses())
    return b"".join(writer.feed((event,)) for event in events) + writer.close()


def test_a_stream_is_chunks_of_text(older_client: ClientSide) -> None:
    written = stream(
        older_client,
        ReplyStarted("chatcmpl-1", "", 7),
        PartStarted(0, Reasoning()),
        PartGrew(0, "Hm."),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartGrew(1, "a", 0, TOKENS),
        PartGrew(1, "b"),
        PartEnded(1),
        ChoiceEnded("length"),
        UsageReported(Usage(input_tokens=1)),
        usage=True,
    )

    rows = frames(written)
    head = {"id": "cmpl-1", "object": "text_completion", "created": 7, "model": "asked"}
    assert rows[1] == {
        **head,
        "choices": [{"index": 0, "text": "b", "logprobs": None, "finish_reason": None}],
        "usage": None,
    }
    assert rows[0]["choices"][0]["logprobs"]["text_offset"] == [0, 1]
    assert rows[2]["choices"][0] == {
        "index": 0,
        "text": "",
        "logprobs": None,
        "finish_reason": "length",
    }
    assert (rows[3]["choices"], rows[3]["usage"]["prompt_tokens"]) == ([], 1)
    assert rows[4] == b"[DONE]"
    assert COMPLETIONS.grammar is not None
    assert find_violation(COMPLETIONS.grammar, written) is None


def test_usage_is_left_out_when_it_is_not_wanted(older_client: ClientSide) -> None:
    started = ReplyStarted("r", "m")

    written = stream(
        older_client, started, UsageReported(Usage(input_tokens=1)), ChoiceEnded("stop")
    )

    assert b"usage" not in written


def test_a_failure_is_the_last_frame(older_client: ClientSide) -> None:
    written = stream(older_client, ReplyStarted("r", "m"), ReplyFailed("bad"))

    assert written.endswith(b"}}\n\n")
    assert b"[DONE]" not in written
    assert b'"message":"bad"' in written
    assert b'"error"' in older_client.stream_writer(Conversation(), Losses()).close()


def test_only_chat_has_a_vendor_side() -> None:
    assert COMPLETIONS.vendor is None
    assert COMPLETIONS.dialect == CHAT.dialect
    assert CHAT.vendor is not None
    assert CHAT.vendor.path("m", True) == "/chat/completions"
