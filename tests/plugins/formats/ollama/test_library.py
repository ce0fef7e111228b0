"""The vendor's own client library against our answers, over a transport that never leaves."""

from collections.abc import Callable
from typing import Any

import httpx
import ollama
import pytest

from gateway_core import (
    BadRequest,
    Choice,
    ClientSide,
    Conversation,
    Losses,
    Reasoning,
    Reply,
    ReplyFailed,
    Text,
    ToolCall,
    Turn,
    Usage,
    VendorSide,
)
from gateway_formats.fold import unfold

REPLY = Reply(
    id="r",
    model="m",
    created=1,
    choices=(
        Choice(
            parts=(
                Reasoning(text="Hm\u2028"),
                Text(text="Hi\x85 there"),
                ToolCall(id="c1", name="f", arguments='{"a": [1]}'),
            ),
            finish="tool_calls",
        ),
    ),
    usage=Usage(input_tokens=3, output_tokens=4),
)
MESSAGES = [{"role": "user", "content": "Hello"}]


def library(answer: Callable[[httpx.Request], httpx.Response]) -> ollama.Client:
    return ollama.Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer))


def test_the_library_reads_our_stream(client: ClientSide) -> None:
    writer = client.stream_writer(Conversation(), Losses())
    stream = writer.feed(unfold(REPLY)) + writer.close()
    box = library(lambda request: httpx.Response(200, content=stream))

    rows = list(box.chat("m", MESSAGES, stream=True))

    assert "".join(row.message.thinking or "" for row in rows) == "Hm\u2028"
    assert "".join(row.message.content or "" for row in rows) == "Hi\x85 there"
    (call,) = [call for row in rows for call in row.message.tool_calls or ()]
    assert (call.function.name, call.function.arguments) == ("f", {"a": [1]})
    assert (rows[-1].done, rows[-1].prompt_eval_count, rows[-1].eval_count) == (True, 3, 4)


def test_the_library_reads_our_whole_answer(client: ClientSide) -> None:
    body = client.write_reply(REPLY, Conversation(), Losses())
    box = library(lambda request: httpx.Response(200, content=body))

    answer = box.chat("m", MESSAGES)

    assert (answer.message.content, answer.message.thinking) == ("Hi\x85 there", "Hm\u2028")
    assert (answer.done_reason, answer.created_at) == ("stop", "1970-01-01T00:00:01Z")


def test_the_library_raises_what_breaks_a_stream(client: ClientSide) -> None:
    writer = client.stream_writer(Conversation(), Losses())
    stream = writer.feed([*unfold(REPLY)[:3], ReplyFailed("fell over")]) + writer.close()
    box = library(lambda request: httpx.Response(200, content=stream))

    with pytest.raises(ollama.ResponseError, match="fell over"):
        list(box.chat("m", MESSAGES, stream=True))


def test_the_library_raises_our_errors(client: ClientSide) -> None:
    body = client.write_error(BadRequest("not like this"), "id-1")
    box = library(lambda request: httpx.Response(400, content=body))

    with pytest.raises(ollama.ResponseError, match="not like this") as raised:
        box.chat("m", MESSAGES)

    assert raised.value.status_code == 400


def test_what_the_library_sends_is_read_and_its_answer_continues_the_talk(
    client: ClientSide, ask: Any, vendor: VendorSide
) -> None:
    """The library drops ids that it does not know, so results are matched by name."""
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, content=client.write_reply(REPLY, Conversation(), Losses()))

    def f(a: list[int]) -> str:
        """Do something.

        Args:
            a: Numbers.
        """
        return str(a)

    box = library(answer)
    first = box.chat("m", MESSAGES, tools=[f], options={"seed": 1}, think="low", keep_alive=0)
    result = {"role": "tool", "tool_name": "f", "content": "done"}
    box.chat("m", [*MESSAGES, first.message, result], format="json")

    assert sent[0].url.path == vendor.path("m", stream=False) == "/api/chat"
    received = ask(sent[0].content)
    assert received.tools[0].name == "f"
    assert (received.sampling.seed, received.thinking.effort, received.stream) == (1, "low", False)
    user, assistant, tool = ask(sent[1].content).turns
    assert user == Turn("user", (Text(text="Hello"),))
    assert [type(part).__name__ for part in assistant.parts] == ["Reasoning", "Text", "ToolCall"]
    assert tool.parts[0].call_id == assistant.parts[2].id
