"""A client's custom tool, called by vendors that know only functions."""

from typing import Any

import msgspec
import pytest
from gateway_format_openai_responses.vendor_stream import Reader
from translation_runs import translate

from gateway_core import ToolCall
from gateway_formats.fold import gather

INPUT = '*** Begin\n"é" + {}'
ARGUMENTS = {"input": INPUT}
TEXT = msgspec.json.encode(ARGUMENTS).decode()
TOOL = {"type": "custom", "name": "patch", "description": "Changes files."}
GROUP = {"type": "namespace", "name": "box", "tools": [TOOL]}

WHOLE: dict[str, Any] = {
    "openai": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "function": {"name": "NAME", "arguments": TEXT}}],
                }
            }
        ]
    },
    "claude": {
        "id": "msg_1",
        "content": [{"type": "tool_use", "id": "c", "name": "NAME", "input": ARGUMENTS}],
        "stop_reason": "tool_use",
    },
    "gemini": {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"name": "NAME", "args": ARGUMENTS}}]},
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "NAME", "arguments": ARGUMENTS}}],
        },
        "done": True,
    },
}


def body(tool: Any) -> bytes:
    return msgspec.json.encode({"model": "m", "input": "hi", "tools": [tool]})


def reported(answer: Any, name: str) -> bytes:
    return msgspec.json.encode(answer).replace(b"NAME", name.encode())


@pytest.mark.parametrize("vendor", WHOLE)
def test_the_vendor_is_offered_a_function_with_one_text(vendor: str) -> None:
    carried = translate("openai-responses", vendor, body(TOOL), [], stream=False, model="m")

    assert b'"patch"' in carried.received
    assert b"Changes files." in carried.received
    assert b'"required":["input"]' in carried.received
    assert "tool:custom" in carried.lost or vendor == "openai"


@pytest.mark.parametrize("vendor", WHOLE)
def test_the_client_gets_the_text_of_the_call(vendor: str) -> None:
    answer = reported(WHOLE[vendor], "patch")

    carried = translate("openai-responses", vendor, body(TOOL), [answer], stream=False, model="m")

    (item,) = msgspec.json.decode(b"".join(carried.reported))["output"]
    assert item["type"] == "custom_tool_call"
    assert item["name"] == "patch"
    assert item["input"] == INPUT
    assert item["id"].startswith("ctc_")
    assert "arguments" not in item


@pytest.mark.parametrize("vendor", WHOLE)
def test_within_a_namespace_too(vendor: str) -> None:
    answer = reported(WHOLE[vendor], "box__patch")

    carried = translate("openai-responses", vendor, body(GROUP), [answer], stream=False, model="m")

    (item,) = msgspec.json.decode(b"".join(carried.reported))["output"]
    assert (item["namespace"], item["name"], item["input"]) == ("box", "patch", INPUT)


def in_pieces() -> list[bytes]:
    """A chat-completions stream that gives the arguments letter by letter."""
    begun = {"index": 0, "id": "c", "function": {"name": "patch", "arguments": ""}}
    grown = [{"index": 0, "function": {"arguments": letter}} for letter in TEXT]
    deltas: list[Any] = [{"tool_calls": [call]} for call in (begun, *grown)]
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return [b"data: %b\n\n" % msgspec.json.encode(chunk) for chunk in chunks]


def test_a_stream_gives_the_text_once_it_is_known() -> None:
    carried = translate(
        "openai-responses", "openai", body(TOOL), in_pieces(), stream=True, model="m"
    )

    stream = b"".join(carried.reported)
    reader = Reader()
    (part,) = gather([*reader.feed(stream), *reader.close()]).choices[0].parts
    assert part == ToolCall(id="c", name="patch", arguments=INPUT, custom=True)
    assert b"function_call" not in stream
    assert stream.count(b"event: response.custom_tool_call_input.delta") == 1
    assert stream.count(b"event: response.custom_tool_call_input.done") == 1


@pytest.mark.parametrize(
    "arguments", ["", "{}", '{"a":"b","c":"d"}', '{"input":1}', '{"input":"cut of', "words", "[]"]
)
def test_arguments_of_another_shape_come_as_they_are(arguments: str) -> None:
    answer = msgspec.json.encode(WHOLE["openai"]).replace(
        msgspec.json.encode(TEXT), msgspec.json.encode(arguments)
    )

    carried = translate(
        "openai-responses",
        "openai",
        body(TOOL),
        [answer.replace(b"NAME", b"patch")],
        stream=False,
        model="m",
    )

    (item,) = msgspec.json.decode(b"".join(carried.reported))["output"]
    # Arguments that hold nothing are those of a call without any.
    expected = "{}" if arguments in ("", "[]") else arguments
    assert (item["type"], item["input"]) == ("custom_tool_call", expected)


def test_a_function_of_the_client_stays_one() -> None:
    tool = {"type": "function", "name": "patch", "parameters": {"type": "object"}}
    answer = reported(WHOLE["openai"], "patch")

    carried = translate("openai-responses", "openai", body(tool), [answer], stream=False, model="m")

    (item,) = msgspec.json.decode(b"".join(carried.reported))["output"]
    assert (item["type"], item["arguments"]) == ("function_call", TEXT)
