"""Requests that make no sense are refused, by the name of the member that makes none."""

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from gateway_format_gemini.client_requests.request import read_conversation
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import (
    BadRequest,
    Conversation,
)

Read = Callable[..., Conversation]


HELLO = [{"role": "user", "parts": [{"text": "Hello"}]}]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def result(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ([], "the body must be an object"),
        ({}, "contents must hold"),
        ({"contents": []}, "contents must hold"),
        ({"contents": "Hello"}, "contents must be a list"),
        ({"contents": ["Hello"]}, r"contents\[0\] must be an object"),
        ({"contents": [{"role": "system", "parts": []}]}, r"contents\[0\].role: please use"),
        ({"contents": [{"role": "user", "parts": []}]}, "at least one part"),
        ({"contents": [user({"text": 5})]}, r"contents\[0\].parts\[0\].text must be a string"),
        ({"contents": [user("x")]}, r"contents\[0\].parts\[0\] must be an object"),
        ({"contents": [model({"functionCall": {}})]}, "functionCall.name must be given"),
        ({"contents": [model(call("f", args=[1]))]}, "functionCall.args must be an object"),
        ({"contents": [user(result("f", "text"))]}, "functionResponse.response must be an object"),
        ({"contents": [user({"functionResponse": {"response": {}}})]}, "functionResponse.name"),
        ({"contents": [user({"fileData": {}})]}, "fileData.fileUri must be given"),
        ({"contents": HELLO, "tools": "x"}, "tools must be a list"),
        ({"contents": HELLO, "tools": [{"functionDeclarations": [{}]}]}, "name must be given"),
        (
            {"contents": HELLO, "generationConfig": {"temperature": "hot"}},
            "generationConfig.temperature must be a number",
        ),
        (
            {"contents": HELLO, "generationConfig": {"topK": 1.5}},
            "generationConfig.topK must be a whole number",
        ),
        (
            {"contents": HELLO, "generationConfig": {"responseLogprobs": "yes"}},
            "responseLogprobs must be true or false",
        ),
        (
            {"contents": HELLO, "generationConfig": {"stopSequences": [1]}},
            "stopSequences must be a list of strings",
        ),
        (
            {"contents": HELLO, "toolConfig": {"functionCallingConfig": {"mode": []}}},
            "functionCallingConfig.mode must be a word",
        ),
        (
            {
                "contents": HELLO,
                "generationConfig": {
                    "thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "low"}
                },
            },
            "cannot be used together",
        ),
        ({"contents": HELLO, "systemInstruction": {"parts": [{"inlineData": {}}]}}, "be a text"),
    ],
)
def test_a_malformed_request_is_refused_by_its_member_s_name(
    read: Read, body: Any, complaint: str
) -> None:
    with pytest.raises(BadRequest, match=complaint):
        read(body)


@pytest.mark.parametrize("body", [b"", b"{", b'{"contents": [', b"[" * 5000, b"\xff{}", b"nul"])
def test_bytes_that_are_no_json_are_a_bad_request(read: Read, body: bytes) -> None:
    with pytest.raises(BadRequest):
        read(body)


NAMES = st.sampled_from(
    [
        *("contents", "role", "parts", "text", "thought", "thoughtSignature", "functionCall"),
        *("functionResponse", "inlineData", "fileData", "name", "args", "response", "id", "mode"),
        *("tools", "functionDeclarations", "parameters", "type", "properties", "toolConfig"),
        *("functionCallingConfig", "allowedFunctionNames", "generationConfig", "thinkingConfig"),
        *("thinkingBudget", "thinkingLevel", "responseSchema", "systemInstruction", "mimeType"),
    ]
)


WORDS = st.sampled_from(["user", "model", "ANY", "OBJECT", "f", "", "X2d3UzFf"])


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS


ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@given(st.dictionaries(NAMES, ANYTHING, max_size=5), ANYTHING)
def test_no_json_whatever_is_met_with_surprise(body: dict[str, Any], contents: Any) -> None:
    for sent in (body, {**body, "contents": contents}, {**body, "contents": HELLO}):
        with contextlib.suppress(BadRequest):
            assert read_conversation(msgspec.json.encode(sent), "m", stream=False).turns
