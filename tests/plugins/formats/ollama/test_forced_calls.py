"""A call that must be made is asked for as an answer of the form of its arguments."""

import json
from typing import Any

import pytest
from exchange_runs import exchanged
from minimal_requests import PLAIN

LOOK = {
    "type": "function",
    "function": {"name": "look", "description": "Looks at a city.", "parameters": PLAIN},
}
FIND = {"type": "function", "function": {"name": "find", "parameters": PLAIN}}
BY_NAME = {"type": "function", "function": {"name": "look"}}
ARGUMENTS = '{"city": "Ulm"}'


def line(content: str, done: bool, **more: Any) -> bytes:
    members = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": done, **more}
    message = {"role": "assistant", "content": content}
    return json.dumps({**members, "message": message}).encode() + b"\n"


WHOLE = line(ARGUMENTS, True, done_reason="stop")
STREAM = [line('{"city": ', False), line('"Ulm"}', False), line("", True, done_reason="stop")]


@pytest.mark.parametrize(
    ("choice", "tools"), [("required", [LOOK]), (BY_NAME, [LOOK]), (BY_NAME, [FIND, LOOK])]
)
def test_the_only_call_is_the_form_of_the_answer(choice: Any, tools: list[Any]) -> None:
    run = exchanged("openai", "ollama", WHOLE, stream=False, tools=tools, tool_choice=choice)

    sent = json.loads(run.exchange.request.body)
    assert sent["format"] == PLAIN
    assert "tools" not in sent
    assert sent["messages"][0]["role"] == "system"
    assert "Looks at a city." in sent["messages"][0]["content"]
    assert not run.exchange.losses.names
    (answer,) = run.json()["choices"]
    (call,) = answer["message"]["tool_calls"]
    assert call["function"] == {"name": "look", "arguments": ARGUMENTS}
    assert answer["finish_reason"] == "tool_calls"


def test_a_stream_of_it_is_a_stream_of_the_call() -> None:
    run = exchanged("claude", "ollama", STREAM, stream=True, **as_claude(["look"]))

    frames = run.frames()
    blocks = [frame["content_block"] for frame in frames if "content_block" in frame]
    assert [(block["type"], block["name"]) for block in blocks] == [("tool_use", "look")]
    deltas = [frame["delta"] for frame in frames if frame["type"] == "content_block_delta"]
    assert json.loads("".join(each["partial_json"] for each in deltas)) == {"city": "Ulm"}
    (end,) = [frame for frame in frames if frame["type"] == "message_delta"]
    assert end["delta"]["stop_reason"] == "tool_use"


def as_claude(names: list[str]) -> dict[str, Any]:
    tools = [{"name": name, "input_schema": PLAIN} for name in names]
    return {"tools": tools, "tool_choice": {"type": "any"}}


def test_a_choice_among_several_is_reported() -> None:
    run = exchanged("claude", "ollama", STREAM, stream=True, **as_claude(["look", "find"]))

    sent = json.loads(run.exchange.request.body)
    assert "format" not in sent
    assert len(sent["tools"]) == 2
    assert "tool_choice" in run.exchange.losses.names


def test_an_answer_that_was_cut_off_says_so() -> None:
    cut = line('{"city": ', True, done_reason="length")

    run = exchanged("openai", "ollama", cut, stream=False, tools=[LOOK], tool_choice="required")

    assert run.json()["choices"][0]["finish_reason"] == "length"
