"""What a user attaches reaches the vendor, or the request is refused: never a turn without it."""

from typing import Any

import pytest
from features_of_turns import AUDIO, DOCUMENTS, IMAGES
from minimal_requests import PDF, PNG
from request_probes import says
from vendor_requests import VENDORS as FORMATS
from vendor_requests import request

from gateway_core import BadRequest
from gateway_core.contracts.errors import PartUnsupported

VENDORS = ("openai", "openai-responses", "claude", "gemini", "ollama", "cohere", "bedrock")
TAKES = {
    "image": frozenset(VENDORS),
    "document": frozenset(VENDORS) - {"ollama", "cohere"},
    "audio": frozenset({"openai", "gemini", "bedrock"}),
}
"""Vendors by the kind of media that they take by value."""
WORDS = {
    ("openai", "document"): "file",
    ("openai", "audio"): "input_audio",
    ("openai-responses", "document"): "input_file",
    ("openai-responses", "audio"): "input_audio",
    ("claude", "document"): "document",
    ("gemini", "document"): "inlineData",
    ("gemini", "audio"): "inlineData",
}
"""What each client's format calls them."""
RESPONSES_AUDIO = {
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": PDF, "format": "wav"}}],
        }
    ]
}
ASKED: dict[str, dict[str, Any]] = {
    "image": dict(IMAGES),
    "document": dict(DOCUMENTS),
    "audio": {**AUDIO, "openai-responses": RESPONSES_AUDIO},
}
CASES = [
    (kind, client, vendor)
    for kind, clients in ASKED.items()
    for client in clients
    for vendor in VENDORS
    if vendor != client
]


@pytest.mark.parametrize(("kind", "client", "vendor"), CASES)
def test_it_is_sent_or_the_request_is_refused(kind: str, client: str, vendor: str) -> None:
    body = {"model": "m", "max_tokens": 5000, **ASKED[kind][client]}

    if vendor in TAKES[kind]:
        sent, _ = request(client, vendor, body)

        assert says(PNG if kind == "image" else PDF)(sent)
        return
    with pytest.raises(PartUnsupported) as refused:
        request(client, vendor, body)

    word = WORDS[client, kind]
    assert refused.value.param == word
    assert refused.value.status == 400
    assert refused.value.code == "unsupported_parameter"
    assert refused.value.message.startswith(f"'{word}' cannot be sent to v/")


@pytest.mark.parametrize("vendor", ["claude", "ollama", "cohere"])
def test_sound_alone_is_no_empty_turn(vendor: str) -> None:
    sound = {"type": "input_audio", "input_audio": {"data": PDF, "format": "wav"}}

    with pytest.raises(PartUnsupported):
        request("openai", vendor, {"messages": [{"role": "user", "content": [sound]}]})


@pytest.mark.parametrize("vendor", ["openai", "claude", "gemini", "ollama", "cohere", "bedrock"])
def test_a_turn_of_nothing_but_an_unknown_part_is_refused(vendor: str) -> None:
    shown = {"type": "computer_call_output", "call_id": "c", "output": {"type": "x"}}
    body = {"input": [{"role": "user", "content": "q"}, shown]}

    with pytest.raises(BadRequest) as refused:
        request("openai-responses", vendor, body)

    assert refused.value.param == "computer_call_output"


@pytest.mark.parametrize("vendor", [name for name in FORMATS if name != "openai-responses"])
def test_the_work_of_a_vendors_own_tools_stays_behind(vendor: str) -> None:
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    body = {"input": [{"role": "user", "content": "q"}, searched, {"role": "user", "content": "r"}]}

    _, lost = request("openai-responses", vendor, body)

    assert "part:web_search_call" in lost


@pytest.mark.parametrize("vendor", ["cohere", "openai-responses"])
def test_a_tools_picture_that_has_no_place_is_refused(vendor: str) -> None:
    result = [{"type": "input_audio", "input_audio": {"data": PDF, "format": "wav"}}]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    body = {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    }

    with pytest.raises(PartUnsupported):
        request("openai", vendor, body)
