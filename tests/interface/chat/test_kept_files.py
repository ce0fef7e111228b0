"""Files, caches and containers stored at one vendor are never dropped for another."""

import base64
import json
from typing import Any

import httpx2
import pytest
from chat_endpoints import BODIES, PATHS, post
from served_gateway import Served

FILE = "https://generativelanguage.googleapis.com/v1beta/files/abc"
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()


def chat(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "v-claude/m", "messages": [{"role": "user", "content": [*content]}], **more}


def spoken(**more: Any) -> dict[str, Any]:
    """A second turn after an audio answer."""
    answer = {"role": "assistant", "audio": {"id": "audio_1"}, **more}
    question = {"role": "user", "content": "hi"}
    return {"model": "v-claude/m", "messages": [question, answer, question]}


def messages(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [*content]}], **more}


def result(*content: dict[str, Any]) -> dict[str, Any]:
    """A tool's result in the messages format."""
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": [*content]}
    tool = {"name": "look", "input_schema": {"type": "object"}}
    turns = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    return {"messages": turns, "tools": [tool]}


def items(*content: dict[str, Any]) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [*content]}]}


def parts(*given: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [*given]}]}


HI = {"type": "text", "text": "hi"}
ASKED = {"type": "input_text", "text": "hi"}
CLAUDE_FILE = {"source": {"type": "file", "file_id": "file_1"}}
KEPT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat image": (
        "openai",
        "file_id",
        chat(HI, {"type": "input_image", "file_id": "file-1"}),
    ),
    "chat file": (
        "openai",
        "file_id",
        chat(HI, {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}),
    ),
    "chat speech": ("openai", "audio.id", spoken()),
    "responses image": (
        "openai-responses",
        "file_id",
        items(ASKED, {"type": "input_image", "file_id": "file-1"}),
    ),
    "responses file": (
        "openai-responses",
        "file_id",
        items(ASKED, {"type": "input_file", "file_id": "file-1"}),
    ),
    "responses item": (
        "openai-responses",
        "item_reference",
        {"input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "hi"}]},
    ),
    "responses store": (
        "openai-responses",
        "vector_store_ids",
        {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]},
    ),
    "responses container": (
        "openai-responses",
        "container",
        {"tools": [{"type": "code_interpreter", "container": "cntr_1"}]},
    ),
    "responses container's files": (
        "openai-responses",
        "container",
        {"tools": [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["f"]}}]},
    ),
    "messages image": ("claude", "file_id", messages(HI, {"type": "image", **CLAUDE_FILE})),
    "messages document": ("claude", "file_id", messages(HI, {"type": "document", **CLAUDE_FILE})),
    "messages result": ("claude", "file_id", result({"type": "image", **CLAUDE_FILE})),
    "messages upload": (
        "claude",
        "container_upload",
        messages(HI, {"type": "container_upload", "file_id": "file_1"}),
    ),
    "messages container": ("claude", "container", {"container": "container_1"}),
    "messages container's skills": (
        "claude",
        "container",
        {"container": {"id": "container_1", "skills": []}},
    ),
    "generative cache": ("gemini", "cachedContent", {"cachedContent": "cachedContents/1"}),
    "generative cache, other spelling": (
        "gemini",
        "cached_content",
        {"cached_content": "cachedContents/1"},
    ),
    "generative file": (
        "gemini",
        "fileUri",
        parts({"text": "hi"}, {"fileData": {"mimeType": "application/pdf", "fileUri": FILE}}),
    ),
    "generative bucket": (
        "gemini",
        "fileUri",
        parts(
            {"text": "hi"}, {"file_data": {"mime_type": "image/png", "file_uri": "gs://b/a.png"}}
        ),
    ),
    "generative store": (
        "gemini",
        "fileSearchStoreNames",
        {"tools": [{"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/1"]}}]},
    ),
}
"""The client's format, its name for the reference, and the body."""
CARRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat speech with its words": ("openai", spoken(content="I said so")),
    "chat file by value": (
        "openai",
        chat(HI, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}),
    ),
    "responses file by value": (
        "openai-responses",
        items(ASKED, {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}),
    ),
    "responses thinking": (
        "openai-responses",
        {"input": [{"type": "item_reference", "id": "rs_1"}, {"role": "user", "content": "hi"}]},
    ),
    "responses container of its own": (
        "openai-responses",
        {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
    ),
    "messages without a container": ("claude", {"container": None}),
    "generative without a cache": ("gemini", {"cachedContent": ""}),
    "generative film": (
        "gemini",
        parts({"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": PIXEL}}),
    ),
}
VENDOR = {"openai": "claude"}
"""A vendor of another format; by default the completions vendor."""


@pytest.mark.parametrize("name", KEPT)
def test_a_vendor_that_cannot_look_it_up_gets_no_request(
    here: Served, http: httpx2.Client, name: str
) -> None:
    wire, member, body = KEPT[name]
    vendor = VENDOR.get(wire, "openai")
    before = len(here.vendors[vendor].received)

    answer = post(http, here, wire, **body)

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"] == (
        f"'{member}' stands for input that a vendor keeps, and v-{vendor}/m cannot look it up. "
        "Leave it out and send the whole conversation in the request."
    )
    assert len(here.vendors[vendor].received) == before


@pytest.mark.parametrize("name", CARRIED)
def test_content_that_can_be_translated_is_translated(
    here: Served, http: httpx2.Client, name: str
) -> None:
    wire, body = CARRIED[name]

    answer = post(http, here, wire, **body)

    assert answer.status_code == 200, answer.text


OWN = [name for name, (wire, _, _) in KEPT.items() if wire in ("openai", "claude")]


@pytest.mark.parametrize("name", OWN)
def test_a_vendor_of_the_same_format_gets_it(here: Served, http: httpx2.Client, name: str) -> None:
    wire, _, body = KEPT[name]
    whole = {**BODIES[wire], **body, "model": f"v-{wire}/m"}

    answer = http.post(here.url + PATHS[wire], json=whole)

    assert answer.status_code == 200, answer.text
    assert json.loads(here.vendors[wire].received[-1].body) == {**whole, "model": "m"}
