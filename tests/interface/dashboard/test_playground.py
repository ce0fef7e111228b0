"""The playground: models answer side by side, and calls are booked on the person."""

import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from dashboard_browser import DOT, VARIABLES, Person, acme, answer, last_call
from fake_vendor import MockResponse, ReceivedRequest
from playwright.sync_api import Browser, expect
from served_gateway import Served, serve_gateway

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = {
    "index": 0,
    "id": "call-1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
}


def streamed(delta: dict[str, Any], reason: str) -> MockResponse:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "large"}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    texts = [*map(json.dumps, chunks), "[DONE]"]
    return MockResponse.stream(*(f"data: {text}\n\n".encode() for text in texts))


def skilled(received: ReceivedRequest) -> MockResponse:
    """A vendor that wants a tool when there is one, and thinks when it may."""
    body = received.json() if received.body else {}
    if body.get("tools") and body["messages"][-1]["role"] != "tool":
        return streamed({"role": "assistant", "tool_calls": [CALL]}, "tool_calls")
    if body.get("reasoning_effort"):
        return streamed({"reasoning_content": "Gulls or terns?", "content": "Gulls."}, "stop")
    return answer(received)


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": skilled}, specs=acme, variables=VARIABLES) as running:
        yield running


def test_two_models_answer_side_by_side(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1,echo/echo")
    page.get_by_label("Write a message").fill("Good morning")
    page.keyboard.press("Enter")

    logs = page.get_by_role("log")
    expect(logs.nth(0)).to_contain_text("Hello from Acme")
    expect(logs.nth(0)).to_contain_text("12 tokens")
    expect(logs.nth(1).get_by_text("Good morning")).to_have_count(2)
    rows = here.rows()[:2]
    assert sorted(row.provider for row in rows) == ["echo", "open"]
    assert all(row.api_key_id.startswith("playground:") for row in rows)


def test_settings_are_sent_and_shown_as_code(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("System prompt").fill("Be brief")
    page.get_by_label("Most tokens").fill("64")
    page.keyboard.press("Escape")
    page.get_by_label("Write a message").fill("Hi")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("log")).to_contain_text("Hello from Acme")

    sent = last_call(here, "openai").json()
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Hi"},
    ]
    assert sent["max_tokens"] == 64
    page.get_by_role("button", name="Code").click()
    expect(page.locator("pre")).to_contain_text('"max_tokens": 64')


def test_a_refusal_is_shown_in_its_column(someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1,nobody/nothing")
    page.get_by_label("Write a message").fill("Hi")
    page.keyboard.press("Enter")

    logs = page.get_by_role("log")
    expect(logs.nth(0)).to_contain_text("Hello from Acme")
    expect(logs.nth(1).get_by_role("alert")).to_be_visible()


def test_a_tool_is_called_and_its_result_sent_back(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1")
    page.get_by_role("button", name="Settings").click()
    tools = page.get_by_label("Tools")
    tools.fill("{")
    expect(page.get_by_text("This is not a JSON list")).to_be_visible()
    tools.fill(json.dumps([TOOL]))
    page.keyboard.press("Escape")
    page.get_by_label("Write a message").fill("Rain in Oslo?")
    page.keyboard.press("Enter")
    talk = page.get_by_role("log")
    expect(talk.get_by_role("button", name="Calls weather")).to_be_visible()
    expect(talk).to_contain_text("Oslo")
    talk.get_by_label("Result of the tool weather").fill("Rain")
    talk.get_by_role("button", name="Send the result").click()

    expect(talk).to_contain_text("Hello from Acme")
    asked, called, result = last_call(here, "openai").json()["messages"]
    assert asked == {"role": "user", "content": "Rain in Oslo?"}
    assert called["tool_calls"][0]["function"]["name"] == "weather"
    assert result == {"role": "tool", "tool_call_id": "call-1", "content": "Rain"}


def test_thinking_is_asked_for_and_shown_folded(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("radio", name="Little").check(force=True)
    page.keyboard.press("Escape")
    page.get_by_label("Write a message").fill("What is that?")
    page.keyboard.press("Enter")
    talk = page.get_by_role("log")
    expect(talk).to_contain_text("Gulls.")

    assert last_call(here, "openai").json()["reasoning_effort"] == "low"
    expect(talk.get_by_text("Gulls or terns?")).to_be_hidden()
    talk.get_by_role("button", name="Thinking").click()
    expect(talk.get_by_text("Gulls or terns?")).to_be_visible()


def test_a_picture_goes_along_and_another_file_is_refused(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1")
    picker = page.locator("input[type=file]")
    note: Any = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"no picture"}
    picker.set_input_files(note)
    expect(page.get_by_role("alert")).to_have_text("note.txt is no image")
    picture: Any = {"name": "dot.png", "mimeType": "image/png", "buffer": b64decode(DOT)}
    picker.set_input_files(picture)
    expect(page.get_by_role("img", name="Image")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Write a message").fill("Describe it")
    page.keyboard.press("Enter")

    talk = page.get_by_role("log")
    expect(talk).to_contain_text("Hello from Acme")
    expect(talk.get_by_role("img", name="Image")).to_be_visible()
    content = last_call(here, "openai").json()["messages"][0]["content"]
    assert content[0] == {"type": "text", "text": "Describe it"}
    assert content[1]["image_url"]["url"] == f"data:image/png;base64,{DOT}"


def test_a_model_is_added_beside_the_first_and_taken_away(here: Served, someone: Person) -> None:
    page = someone.visit("playground?models=open/m-1")
    page.get_by_role("button", name="Compare with another model").click()
    expect(page.get_by_role("log")).to_have_count(2)
    page.get_by_label("Write a message").fill("Hi")
    page.keyboard.press("Enter")
    for place in range(2):
        expect(page.get_by_role("log").nth(place)).to_contain_text("Hello from Acme")

    assert [row.model_sent for row in here.rows()[:2]] == ["m-1", "m-1"]
    page.get_by_role("button", name="Remove open/m-1").last.click()
    expect(page.get_by_role("log")).to_have_count(1)
    expect(page.get_by_role("log")).to_contain_text("Hello from Acme")
