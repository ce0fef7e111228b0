"""Tool calls and sealed thinking, written as chunks."""

from typing import Any

import msgspec
from gateway_format_openai import CHAT
from openai.types.chat import ChatCompletionChunk

from gateway_core import (
    ChoiceEnded,
    ClientSide,
    Conversation,
    Grammar,
    Losses,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    ReplyStarted,
    StreamEvent,
    Text,
    Tool,
    ToolCall,
    unseal_id,
)
from gateway_formats.grammar import find_violation

START = ReplyStarted("r1", "m", 7)

END = ChoiceEnded("stop")

SILENT = Conversation(stream_usage=False)


def grammar() -> Grammar:
    assert CHAT.grammar is not None
    return CHAT.grammar


def stream(
    client: ClientSide,
    *events: StreamEvent,
    received: Conversation = SILENT,
    losses: Losses | None = None,
) -> bytes:
    writer = client.stream_writer(received, Losses() if losses is None else losses)
    return b"".join(writer.feed((event,)) for event in events) + writer.close()


def chunks(written: bytes) -> list[dict[str, Any]]:
    frames = [frame.removeprefix(b"data: ") for frame in written.split(b"\n\n") if frame]
    assert frames.pop() == b"[DONE]"
    for frame in frames:
        ChatCompletionChunk.model_validate_json(frame)
    return [msgspec.json.decode(frame) for frame in frames]


def deltas(client: ClientSide, *events: StreamEvent, **members: Any) -> list[dict[str, Any]]:
    """The deltas between the first chunk and the last."""
    written = chunks(stream(client, START, *events, END, **members))
    return [chunk["choices"][0]["delta"] for chunk in written[1:-1]]


def test_a_call_streams_its_arguments(client: ClientSide) -> None:
    output = deltas(
        client,
        PartStarted(0, ToolCall(id="a", name="f")),
        PartGrew(0, '{"x":'),
        PartGrew(0, "1}"),
        PartEnded(0),
        PartStarted(1, ToolCall(id="b", name="g", arguments="{}")),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c", name="h")),
        PartEnded(2),
    )

    def begun(index: int, id: str, name: str, text: str) -> dict[str, Any]:
        function = {"name": name, "arguments": text}
        return {"index": index, "id": id, "type": "function", "function": function}

    assert output == [
        {"tool_calls": [begun(0, "a", "f", "")]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
        {"tool_calls": [begun(1, "b", "g", "{}")]},
        {"tool_calls": [begun(2, "c", "h", "")]},
        {"tool_calls": [{"index": 2, "function": {"arguments": "{}"}}]},
    ]


def test_calls_that_take_turns_keep_taking_turns(client: ClientSide) -> None:
    output = deltas(
        client,
        PartStarted(0, ToolCall(id="a", name="f")),
        PartStarted(1, ToolCall(id="b", name="g")),
        PartGrew(0, "{"),
        PartGrew(1, "{"),
        PartGrew(0, "}"),
        PartGrew(1, "}"),
        PartEnded(0),
        PartEnded(1),
    )

    assert [delta["tool_calls"][0]["index"] for delta in output] == [0, 1, 0, 1, 0, 1]


def test_signed_thinking_is_sealed_in_the_next_calls_id(client: ClientSide) -> None:
    losses = Losses()
    output = deltas(
        client,
        PartStarted(0, Reasoning()),
        PartGrew(0, "H"),
        PartGrew(0, "m"),
        PartSealed(0, "sig", None, 0, "vendor"),
        PartEnded(0),
        PartStarted(1, Reasoning(id="rs_1")),
        PartSealed(1, None, "data", 0, "vendor"),
        PartEnded(1),
        PartStarted(2, ToolCall(id="a", name="f", signature="s2", origin="gem")),
        PartEnded(2),
        PartStarted(3, ToolCall(id="b", name="f")),
        PartEnded(3),
        losses=losses,
    )

    ids = [
        d["tool_calls"][0]["id"] for d in output if "tool_calls" in d and "id" in d["tool_calls"][0]
    ]
    assert unseal_id(ids[0]) == (
        "a",
        "gem",
        "s2",
        (
            Reasoning(text="Hm", signature="sig", origin="vendor"),
            Reasoning(sealed="data", id="rs_1", origin="vendor"),
        ),
    )
    assert ids[1] == "b"
    assert not losses


def test_a_proof_that_comes_too_late_or_alone_is_lost(client: ClientSide) -> None:
    late, alone, text = Losses(), Losses(), Losses()
    call = PartStarted(0, ToolCall(id="a", name="f"))

    deltas(client, call, PartSealed(0, "sig"), PartEnded(0), losses=late)
    deltas(client, PartStarted(0, Reasoning()), PartSealed(0, "s"), PartEnded(0), losses=alone)
    deltas(client, PartStarted(0, Text(text="", signature="s")), PartEnded(0), losses=text)

    assert list(late.names) == list(alone.names) == list(text.names) == ["reasoning_signature"]


def test_a_custom_call_streams_its_input(client: ClientSide) -> None:
    written = stream(
        client,
        START,
        PartStarted(0, ToolCall(id="a", name="calc", custom=True)),
        PartGrew(0, "4"),
        PartEnded(0),
        END,
    )

    assert b'"custom":{"name":"calc","input":""}' in written
    assert b'{"index":0,"custom":{"input":"4"}}' in written
    assert find_violation(grammar(), written) is None


def test_a_function_that_stood_in_for_a_custom_tool_is_one_again(client: ClientSide) -> None:
    received = Conversation(tools=(Tool(name="calc", custom=True),), stream_usage=False)
    written = stream(
        client,
        START,
        PartStarted(0, ToolCall(id="z", name="f")),
        PartGrew(0, "{}"),
        PartStarted(1, ToolCall(id="a", name="calc")),
        PartGrew(1, '{"input":'),
        PartGrew(1, '"4 + 4"}'),
        PartEnded(0),
        PartEnded(1),
        END,
        received=received,
    )

    assert (
        b'{"tool_calls":[{"index":1,"id":"a","type":"custom",'
        b'"custom":{"name":"calc","input":"4 + 4"}}]}'
    ) in written


def test_an_older_client_gets_one_older_call(client: ClientSide) -> None:
    losses = Losses()
    received = Conversation(tools=(Tool(name="f", dialect="openai-functions"),), stream_usage=False)
    written = chunks(
        stream(
            client,
            START,
            PartStarted(0, ToolCall(id="a", name="f", signature="s")),
            PartGrew(0, "{}"),
            PartEnded(0),
            PartStarted(1, ToolCall(id="b", name="f")),
            PartGrew(1, "{}"),
            PartEnded(1),
            ChoiceEnded("tool_calls"),
            received=received,
            losses=losses,
        )
    )

    assert [chunk["choices"][0]["delta"] for chunk in written[1:]] == [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": "{}"}},
        {},
    ]
    assert written[-1]["choices"][0]["finish_reason"] == "function_call"
    assert list(losses.names) == ["reasoning_signature", "parallel_tools"]
