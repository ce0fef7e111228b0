"""Answers that are not as the vendor's reference has them, and mean something all the same."""

import json
from typing import Any

import pytest
from exchange_runs import exchanged
from translation_runs import WIRES
from vendor_answers import STREAMED, WHOLE, WORDS
from vendor_requests import VENDORS

CLIENTS = tuple(WIRES)
SSE = tuple(name for name in VENDORS if name not in ("ollama", "bedrock"))
"""Vendors whose streams are server-sent events."""


def text_of(client: str, stream: bool, output: bytes) -> str:
    """The words of an answer, read by plain means."""
    lines = [line.removeprefix(b"data: ") for line in output.splitlines()]
    values = [json.loads(line) for line in lines if line.startswith(b"{")]
    if not stream:
        (value,) = values
    match client, stream:
        case "openai", False:
            return str(value["choices"][0]["message"]["content"])
        case "openai", True:
            deltas = [each["choices"][0]["delta"] for each in values if each.get("choices")]
            return "".join(delta.get("content") or "" for delta in deltas)
        case "openai-responses", False:
            return str(value["output"][0]["content"][0]["text"])
        case "openai-responses", True:
            return "".join(
                each["delta"] for each in values if each["type"] == "response.output_text.delta"
            )
        case "claude", False:
            return str(value["content"][0]["text"])
        case "claude", True:
            deltas = [each["delta"] for each in values if each["type"] == "content_block_delta"]
            return "".join(delta["text"] for delta in deltas)
        case "gemini", _:
            parts = [p for v in values for p in v["candidates"][0]["content"].get("parts", ())]
            return "".join(part["text"] for part in parts)
    return "".join(each["message"]["content"] for each in values)


@pytest.mark.parametrize("vendor", SSE)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_for_a_whole_answer_is_understood(client: str, vendor: str) -> None:
    run = exchanged(client, vendor, STREAMED[vendor], stream=False)

    assert run.exchange.failure is None
    assert text_of(client, False, run.output) == WORDS
    assert run.exchange.usage is not None
    assert run.exchange.usage.input_tokens == 3


@pytest.mark.parametrize("vendor", SSE)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_whole_answer_for_a_stream_is_understood(client: str, vendor: str) -> None:
    run = exchanged(client, vendor, WHOLE[vendor], stream=True)

    assert run.exchange.failure is None
    assert run.exchange.started
    assert text_of(client, True, run.output) == WORDS
    assert run.exchange.usage is not None
    assert run.exchange.usage.input_tokens == 3


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "ollama"])
def test_lines_for_a_whole_answer_are_understood(client: str) -> None:
    run = exchanged(client, "ollama", STREAMED["ollama"], stream=False)

    assert text_of(client, False, run.output) == WORDS


@pytest.mark.parametrize("client", CLIENTS)
def test_an_error_for_a_stream_is_the_vendors(client: str) -> None:
    error = b'{"error":{"message":"No such model","type":"invalid_request_error"}}'

    run = exchanged(client, "openai", error, stream=True)

    assert run.exchange.failure is not None
    assert run.exchange.failure.message == "No such model"


def call(arguments: Any) -> bytes:
    function = {"name": "look", "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json.dumps({"id": "x", "model": "m", "choices": [choice]}).encode()


def call_stream(*pieces: str) -> bytes:
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}
    calls = [first, *({"index": 0, "function": {"arguments": piece}} for piece in pieces)]
    deltas = [({"tool_calls": [each]}, None) for each in calls] + [({}, "tool_calls")]
    chunks = [
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]}
        for delta, why in deltas
    ]
    frames = (b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks)
    return b"".join(frames) + b"data: [DONE]\n\n"


def arguments_of(client: str, value: Any) -> Any:
    match client:
        case "openai-responses":
            return json.loads(value["output"][0]["arguments"])
        case "claude":
            return value["content"][0]["input"]
        case "gemini":
            return value["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]
    return value["message"]["tool_calls"][0]["function"]["arguments"]


TRANSLATED = tuple(client for client in CLIENTS if client != "openai")


@pytest.mark.parametrize("arguments", ["null", "[]", "", " null ", None, []])
@pytest.mark.parametrize("client", TRANSLATED)
def test_arguments_that_say_nothing_are_an_empty_object(client: str, arguments: Any) -> None:
    run = exchanged(client, "openai", call(arguments), stream=False)

    assert arguments_of(client, run.json()) == {}


@pytest.mark.parametrize("pieces", [("null",), ("[", "]"), ("",), ("nu", "ll"), ()])
def test_so_are_streamed_ones(pieces: tuple[str, ...]) -> None:
    run = exchanged("claude", "openai", call_stream(*pieces), stream=True)

    deltas = [frame["delta"] for frame in run.frames() if frame["type"] == "content_block_delta"]
    assert "".join(delta["partial_json"] for delta in deltas) == "{}"


@pytest.mark.parametrize("pieces", [('{"a":', "null}"), ("[", "1]"), ("nu", "x"), ("{}",)])
def test_other_streamed_arguments_stay_as_they_are(pieces: tuple[str, ...]) -> None:
    run = exchanged("claude", "openai", call_stream(*pieces), stream=True)

    deltas = [frame["delta"] for frame in run.frames() if frame["type"] == "content_block_delta"]
    assert "".join(delta["partial_json"] for delta in deltas) == "".join(pieces)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_content_that_is_an_object_is_text(client: str) -> None:
    message = {"role": "assistant", "content": {"city": "Ulm"}}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = json.dumps({"id": "x", "model": "m", "choices": [choice]}).encode()

    run = exchanged(client, "openai", answer, stream=False)

    assert json.loads(text_of(client, False, run.output)) == {"city": "Ulm"}


def test_calls_that_come_by_turns_are_one_item_after_another() -> None:
    def delta(index: int, **function: Any) -> dict[str, Any]:
        named = {"id": f"c{index}"} if "name" in function else {}
        return {"tool_calls": [{"index": index, **named, "function": function}]}

    deltas = [
        delta(0, name="look", arguments=""),
        delta(1, name="look", arguments=""),
        delta(0, arguments='{"a":'),
        delta(1, arguments='{"b":'),
        delta(0, arguments="1}"),
        delta(1, arguments="2}"),
    ]
    chunks = [{"id": "x", "choices": [{"index": 0, "delta": each}]} for each in deltas]
    chunks.append(
        {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    )
    frames = [b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]

    run = exchanged("openai-responses", "openai", [*frames, b"data: [DONE]\n\n"], stream=True)

    opened: set[int] = set()
    for frame in run.frames():
        if frame["type"] == "response.output_item.added":
            assert not opened
            opened.add(frame["output_index"])
        elif frame["type"] == "response.output_item.done":
            opened.remove(frame["output_index"])
    output = run.frames()[-1]["response"]["output"]
    assert [json.loads(item["arguments"]) for item in output] == [{"a": 1}, {"b": 2}]


def test_blocks_without_an_end_are_closed() -> None:
    stream = STREAMED["claude"]
    stop = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    assert stop in stream

    for cut in (stream.replace(stop, b""), stream.replace(stop, b"").replace(b"\n", b"\r\n")):
        run = exchanged("claude", "claude", cut, stream=True)

        assert run.exchange.failure is None
        kinds = [frame["type"] for frame in run.frames()]
        assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_content_without_parts_is_an_empty_answer(client: str, stream: bool) -> None:
    candidate = {"content": {}, "finishReason": "STOP", "index": 0}
    answer = json.dumps({"candidates": [candidate], "modelVersion": "m"}).encode()

    run = exchanged(client, "gemini", b"data: %b\n\n" % answer if stream else answer, stream=stream)

    assert run.exchange.failure is None
    assert run.exchange.started


@pytest.mark.parametrize("client", ["claude", "openai"])
def test_a_misnamed_result_answers_the_call_in_its_place(client: str) -> None:
    calls = [{"functionCall": {"name": name, "args": {}}} for name in ("look", "find")]
    results = [
        {"functionResponse": {"name": "LookTool", "response": {"result": "seen"}}},
        {"functionResponse": {"name": "find", "response": {"result": "found"}}},
    ]
    contents = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
    ]

    run = exchanged("gemini", client, WHOLE[client], stream=False, contents=contents)

    sent = json.loads(run.exchange.request.body)["messages"]
    if client == "openai":
        ids = [each["id"] for each in sent[1]["tool_calls"]]
        assert [each["tool_call_id"] for each in sent[2:]] == ids
        assert [each["content"] for each in sent[2:]] == ["seen", "found"]
    else:
        ids = [each["id"] for each in sent[1]["content"]]
        reported = [(each["tool_use_id"], each["content"]) for each in sent[2]["content"]]
        assert reported == list(zip(ids, ["seen", "found"], strict=True))


@pytest.mark.parametrize(
    ("data", "media_type"),
    [("SUQzBAAA", "audio/mpeg"), ("//uQZAAA", "audio/mpeg"), ("T2dnUwAC", "audio/ogg")],
)
def test_sound_that_is_a_string_is_what_its_bytes_say(data: str, media_type: str) -> None:
    content = [{"type": "input_audio", "input_audio": data}]
    messages = [{"role": "user", "content": content}]

    run = exchanged("openai", "gemini", WHOLE["gemini"], stream=False, messages=messages)

    (part,) = json.loads(run.exchange.request.body)["contents"][0]["parts"]
    assert part == {"inlineData": {"mimeType": media_type, "data": data}}


def test_a_client_that_did_not_ask_for_usage_gets_no_null() -> None:
    def stream(separators: tuple[str, str]) -> list[bytes]:
        chunks = [{"role": "assistant", "content": ""}, {"content": 'say "usage":null'}, {}]
        frames = [
            json.dumps(
                {
                    "id": "x",
                    "choices": [
                        {"index": 0, "delta": each, "finish_reason": None if each else "stop"}
                    ],
                    "usage": None,
                },
                separators=separators,
            )
            for each in chunks
        ]
        last = json.dumps({"id": "x", "choices": [], "usage": {"prompt_tokens": 3}})
        return [b"data: %b\n\n" % frame.encode() for frame in (*frames, last)] + [
            b"data: [DONE]\n\n"
        ]

    for separators in ((",", ":"), (", ", ": ")):
        pieces = stream(separators)
        for answer in (pieces, b"".join(pieces)):
            run = exchanged("openai", "openai", answer, stream=True)
            asking = exchanged(
                "openai", "openai", answer, stream=True, stream_options={"include_usage": True}
            )

            assert len(run.frames()) == 3
            assert all("usage" not in frame for frame in run.frames())
            assert text_of("openai", True, run.output) == 'say "usage":null'
            assert asking.output == b"".join(pieces)
            assert run.exchange.usage is not None


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("reason", ["load", "stop"])
def test_an_answer_without_text_is_an_answer(reason: str, stream: bool) -> None:
    line = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reason,
    }
    answer = json.dumps(line).encode() + b"\n"
    messages = [] if reason == "load" else [{"role": "user", "content": "hi"}]

    run = exchanged("ollama", "ollama", answer, stream=stream, messages=messages)

    assert run.exchange.failure is None
    assert run.exchange.started
    assert run.json() == line
