"""A vendor's whole answers, read."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from gateway_core import (
    Choice,
    ClientSide,
    Conversation,
    Losses,
    Reasoning,
    Reply,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    VendorSide,
)

ASKED = Conversation(model="asked")


def body(message: Any = None, *, finish: str | None = "stop", **members: Any) -> bytes:
    choice = {"index": 0, "message": message or {}, "finish_reason": finish}
    choice |= members.pop("choice", {})
    return msgspec.json.encode({"id": "r1", "model": "m", "choices": [choice], **members})


def test_a_whole_answer_is_read_like_a_stream_of_one_chunk(vendor: VendorSide) -> None:
    reply = vendor.read_reply(
        body(
            {
                "role": "assistant",
                "reasoning_content": "Hm.",
                "content": "a",
                "tool_calls": [
                    {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            finish="tool_calls",
            created=7,
            usage={"prompt_tokens": 2, "completion_tokens": 3},
        )
    )

    assert reply == Reply(
        id="r1",
        model="m",
        created=7,
        choices=(
            Choice(
                parts=(
                    Reasoning(text="Hm."),
                    Text(text="a"),
                    ToolCall(id="x", name="f", arguments="{}"),
                ),
                finish="tool_calls",
            ),
        ),
        usage=Usage(input_tokens=2, output_tokens=3),
        dialect="openai",
    )


def test_unknown_members_of_an_answer_are_kept_and_go_back(
    client: ClientSide, vendor: VendorSide
) -> None:
    source = body(
        {"content": "a", "executed_tools": [1]},
        choice={"native_finish_reason": "STOP"},
        provider="Acme",
        system_fingerprint="fp",
        service_tier="default",
        nothing=None,
    )

    reply = vendor.read_reply(source)
    written = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert reply.extra == {
        "provider": Raw(b'"Acme"'),
        "system_fingerprint": Raw(b'"fp"'),
        "service_tier": Raw(b'"default"'),
    }
    assert written["provider"] == "Acme"
    assert written["service_tier"] == "default"
    assert written["choices"][0]["native_finish_reason"] == "STOP"
    assert written["choices"][0]["message"]["executed_tools"] == [1]


def test_a_service_tier_that_typed_clients_refuse_is_left_out(
    client: ClientSide, vendor: VendorSide
) -> None:
    reply = vendor.read_reply(body({"content": "a"}, service_tier="on_demand"))

    assert b"service_tier" not in client.write_reply(reply, ASKED, Losses())


def test_unknown_members_of_another_dialect_stay_behind(client: ClientSide) -> None:
    reply = Reply(
        id="r1",
        model="m",
        choices=(Choice(parts=(Text(text="a"),), extra={"odd": Raw(b"1")}),),
        dialect="claude",
        extra={"container": Raw(b"{}")},
    )

    written = client.write_reply(reply, ASKED, Losses())

    assert b"container" not in written
    assert b"odd" not in written


@pytest.mark.parametrize(
    "shared", [{"id": "c1"}, {"id": "c1", "index": 0}, {"index": 0}, {}], ids=str
)
@pytest.mark.parametrize("names", [("f", "f"), ("f", "g")], ids=str)
def test_each_call_of_a_whole_answer_is_one(
    vendor: VendorSide, shared: dict[str, Any], names: tuple[str, str]
) -> None:
    calls = [
        {**shared, "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in zip(names, ('{"a":1}', '{"a":2}'), strict=True)
    ]

    reply = vendor.read_reply(body({"content": None, "tool_calls": calls}))
    read = [part for part in reply.choices[0].parts if isinstance(part, ToolCall)]

    assert [(call.name, call.arguments) for call in read] == [
        (names[0], '{"a":1}'),
        (names[1], '{"a":2}'),
    ]
    assert len({call.id for call in read}) == 2
    assert read[0].id == shared.get("id", read[0].id)


def test_choices_are_ordered_by_their_index(vendor: VendorSide) -> None:
    choices = [
        {"index": 1, "message": {"content": "b"}, "finish_reason": "length", "x": 1},
        {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"},
    ]
    reply = vendor.read_reply(msgspec.json.encode({"id": "r", "choices": choices}))

    assert [choice.parts for choice in reply.choices] == [(Text(text="a"),), (Text(text="b"),)]
    assert reply.choices[1].extra == {"x": Raw(b"1")}


def test_log_probabilities_are_kept_whole(client: ClientSide, vendor: VendorSide) -> None:
    tokens = {"content": [{"token": "a", "logprob": -1.5, "bytes": None, "top_logprobs": []}]}

    reply = vendor.read_reply(body({"content": "a"}, choice={"logprobs": tokens}))
    written = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert msgspec.json.decode(reply.choices[0].logprobs or b"") == tokens
    assert written["choices"][0]["logprobs"] == tokens


@pytest.mark.parametrize(
    "answer",
    [
        b'{"choices":[{"message":{"content":"a"}}],"\xff":1}',
        b'{"choices":[{"message":{"content":"a"},"\xff":1}]}',
        b'{"choices":[{"message":{"content":"a","\xff":1}}]}',
    ],
    ids=["answer", "choice", "message"],
)
def test_a_member_whose_name_cannot_be_read_spoils_the_answer(
    vendor: VendorSide, answer: bytes
) -> None:
    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(answer)


@pytest.mark.parametrize(
    ("answer", "message", "status"),
    [
        (b"", "The upstream gave an answer that could not be read", 502),
        (b"<html>", "The upstream gave an answer that could not be read", 502),
        (b"[]", "The upstream gave an answer that could not be read", 502),
        (b"{}", "The upstream gave an empty answer", 502),
        (b'{"choices":[]}', "The upstream gave an empty answer", 502),
        (b'{"choices":5}', "The upstream gave an answer that could not be read", 502),
        (b'{"error":{"message":"bad","code":429}}', "bad", 429),
        (b'{"error":"bad","choices":5}', "bad", 502),
        (b'{"choices":[{"error":{"message":"bad","code":503}}]}', "bad", 503),
        (b'{"choices":[{"finish_reason":"error"}]}', "The upstream broke off its answer", 502),
    ],
)
def test_what_is_no_answer_is_an_error(
    vendor: VendorSide, answer: bytes, message: str, status: int
) -> None:
    with pytest.raises(UpstreamError) as raised:
        vendor.read_reply(answer)

    assert (raised.value.message, raised.value.status) == (message, status)


def test_an_error_in_an_answer_keeps_the_vendors_request_id(vendor: VendorSide) -> None:
    with pytest.raises(UpstreamError) as raised:
        vendor.read_reply(b'{"error":{"message":"bad","code":"c"},"request_id":"req_1"}')

    assert (raised.value.code, raised.value.request_id) == ("c", "req_1")


@pytest.mark.parametrize("member", ["system_fingerprint", "service_tier"])
@pytest.mark.parametrize(
    "value", [b'"\xff"', b'{"a":"\xff"}', b"1e999"], ids=["text", "nested", "number"]
)
def test_what_cannot_be_read_does_not_reach_the_client(
    vendor: VendorSide, member: str, value: bytes
) -> None:
    broken = body({"content": "hi"}, **{member: "?"}).replace(b'"?"', value)

    with pytest.raises(UpstreamError, match="could not be read"):
        vendor.read_reply(broken)
