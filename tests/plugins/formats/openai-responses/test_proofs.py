"""Signatures and sealed thinking of any vendor go to the client and come back."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gateway_core import (
    Choice,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Reply,
    ReplyStarted,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    seal,
    seal_id,
)

Json = dict[str, Any]
Ask = Callable[..., Conversation]
Tell = Callable[..., tuple[Json, list[str]]]
Aim = Callable[..., Target]
OWN = "openai-responses"
HELLO = {"role": "user", "content": "q"}

SIGNED = Reasoning(text="pondering", signature="sig", origin="anthropic")
SEALED = Reasoning(sealed="closed", origin="anthropic")
SUMMED = Reasoning(text="short", summary=True, id="rs_1", sealed="enc", origin="openai")
PLAIN = Reasoning(text="open thought")
CALL = ToolCall(id="call_1", name="f", arguments="{}", signature="thought", origin="gemini")


def written(client: ClientSide, *parts: Any) -> list[Json]:
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts),))
    body = client.write_reply(reply, Conversation(), Losses())
    return list(json.loads(body)["output"])


def returned(ask: Ask, items: Sequence[Json]) -> list[Any]:
    return [part for turn in ask([HELLO, *items]).turns[1:] for part in turn.parts]


@pytest.mark.parametrize("part", [SIGNED, SEALED, SUMMED, PLAIN])
def test_thinking_comes_back_as_it_went(client: ClientSide, ask: Ask, part: Reasoning) -> None:
    items = written(client, part)

    assert returned(ask, items) == [part]
    assert "_gwS1_" in items[0]["encrypted_content"]


@pytest.mark.parametrize("part", [SIGNED, SUMMED])
def test_it_comes_back_even_when_the_client_drops_the_words(
    client: ClientSide, ask: Ask, part: Reasoning
) -> None:
    (item,) = written(client, part)
    kept = {"type": "reasoning", "summary": [], "encrypted_content": item["encrypted_content"]}

    assert returned(ask, [kept]) == [part]


def test_the_words_are_shown_as_what_they_are(client: ClientSide) -> None:
    summed, shown = written(client, SUMMED, SIGNED)

    assert summed["summary"] == [{"type": "summary_text", "text": "short"}]
    assert "content" not in summed
    assert (summed["id"], summed["status"]) == ("rs_1", "completed")
    assert shown["summary"] == []
    assert shown["content"] == [{"type": "reasoning_text", "text": "pondering"}]
    assert shown["id"].startswith("rs_")


def test_a_proof_that_arrives_late_is_in_time(
    client: ClientSide, stream: Callable[..., bytes], frames: Callable[[bytes], list[Json]]
) -> None:
    events: list[StreamEvent] = [
        ReplyStarted("r", "m"),
        PartStarted(0, Reasoning()),
        PartGrew(0, "pond"),
        PartGrew(0, "ering"),
        PartSealed(0, signature="sig", origin="anthropic"),
        PartEnded(0),
        ChoiceEnded("stop"),
    ]

    final = frames(stream(events))[-1]["response"]

    assert final["output"] == written(client, SIGNED)


def test_a_calls_own_signature_rides_in_its_id(client: ClientSide, ask: Ask) -> None:
    (item,) = written(client, CALL)
    output = {"type": "function_call_output", "call_id": item["call_id"], "output": "r"}

    call, result = returned(ask, [item, output])

    assert item["call_id"].startswith("call_1_gwS1_")
    assert call == CALL
    assert result == ToolResult(call_id="call_1", content=(Text(text="r"),))


def test_thinking_that_another_format_put_into_an_id_is_found_too(ask: Ask) -> None:
    call_id = seal_id("c", "anthropic", None, (SIGNED,))
    item = {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}

    assert returned(ask, [item]) == [
        SIGNED,
        ToolCall(id="c", name="f", arguments="{}", origin="anthropic"),
    ]


def test_a_plain_seal_is_opened(ask: Ask) -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": seal("acme", "value")}

    assert returned(ask, [item]) == [Reasoning(sealed="value", origin="acme")]


def test_a_damaged_seal_leaves_the_words(ask: Ask) -> None:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "words"}],
        "encrypted_content": "_gwS1_!!!",
    }

    assert returned(ask, [item]) == [Reasoning(text="words", summary=True)]


def test_what_the_client_itself_brought_is_this_dialects(ask: Ask) -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}

    assert returned(ask, [item]) == [Reasoning(sealed="gAAAA", origin="~openai-responses")]


def reported(
    tell: Tell, part: Any, to: Target, dialect: str = "other"
) -> tuple[list[Json], list[str]]:
    turns = (Turn("user", (Text(text="q"),)), Turn("assistant", (part, Text(text="a"))))
    produced, lost = tell(Conversation(turns=turns, dialect=dialect), to)
    return produced["input"][1:-1], lost


def test_a_vendor_gets_back_only_what_it_sealed(tell: Tell, aim: Aim) -> None:
    theirs, lost = reported(tell, SUMMED, aim("openai"))
    others, unread = reported(tell, SUMMED, aim("xai"))

    assert theirs == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "short"}],
            "encrypted_content": "enc",
        }
    ]
    assert lost == []
    assert others == []
    assert unread == ["reasoning_signature", "reasoning"]


def test_what_a_client_brought_goes_to_any_vendor_of_this_format(tell: Tell, aim: Aim) -> None:
    brought = Reasoning(sealed="gAAAA", origin="~openai-responses")

    items, lost = reported(tell, brought, aim("anyone"), OWN)

    assert items == [{"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}]
    assert lost == []


def test_a_stored_item_is_named_to_the_vendor_that_stores_it(tell: Tell, aim: Aim) -> None:
    stored = Reasoning(id="rs_1", origin="~openai-responses")

    assert reported(tell, stored, aim(), OWN)[0] == [
        {"type": "reasoning", "id": "rs_1", "summary": []}
    ]


@pytest.mark.parametrize(
    ("part", "losses"),
    [
        (PLAIN, ["reasoning"]),
        (SIGNED, ["reasoning_signature", "reasoning"]),
        (SEALED, ["reasoning_signature"]),
    ],
)
def test_thinking_without_a_proof_is_left_out(
    tell: Tell, aim: Aim, part: Reasoning, losses: list[str]
) -> None:
    assert reported(tell, part, aim()) == ([], losses)


def test_some_vendors_take_thinking_without_a_proof(tell: Tell, aim: Aim) -> None:
    shown = {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "pondering"}],
    }

    assert reported(tell, SIGNED, aim(plain_reasoning=True)) == ([shown], ["reasoning_signature"])


def test_a_signature_of_a_text_or_a_late_one_of_a_call_is_a_loss(client: ClientSide) -> None:
    losses = Losses()
    writer = client.stream_writer(Conversation(), losses)

    writer.feed(
        [
            ReplyStarted("r", "m"),
            PartStarted(0, ToolCall(id="c", name="f")),
            PartSealed(0, signature="s", origin="gemini"),
            PartEnded(0),
        ]
    )

    assert list(losses.names) == ["reasoning_signature"]
    again = Losses()
    client.stream_writer(Conversation(), again).feed(
        [ReplyStarted("r", "m"), PartStarted(0, Text(text="", signature="s", origin="gemini"))]
    )
    assert list(again.names) == ["reasoning_signature"]
