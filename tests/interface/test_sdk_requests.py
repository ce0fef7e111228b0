"""Images and response formats sent by the vendors' own SDKs."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from google import genai
from google.genai import types as genai_types
from minimal_requests import PNG
from pydantic import BaseModel
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model

SAID = '{"city": "Oslo"}'
USAGE = {"input_tokens": 3, "output_tokens": 5}
MODELS = {
    "openai": "gpt-4.1",
    "openai-responses": "gpt-5",
    "claude": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "gemma3",
}


class Place(BaseModel):
    city: str


ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": SAID},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": SAID, "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {**USAGE, "total_tokens": 8},
    },
    "claude": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": SAID}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    },
    "gemini": {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": SAID}]},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8},
    },
    "ollama": {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": SAID},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 5,
    },
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    def script(wire: str) -> Callable[[ReceivedRequest], MockResponse]:
        return lambda _: MockResponse((json.dumps(ANSWERS[wire]).encode(),))

    def specs(vendors: Any) -> list[Any]:
        return [
            keyless_provider(w, vendor, models=(Model(MODELS[w]),)) for w, vendor in vendors.items()
        ]

    folder = Path(tmp_path_factory.mktemp("gateway"))
    with serve_gateway(folder, {wire: script(wire) for wire in ANSWERS}, specs=specs) as running:
        yield running


def ask_openai(here: Served, model: str) -> Place | None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    content: Any = [{"type": "text", "text": "where?"}, picture]
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        reply = client.chat.completions.parse(
            model=model, messages=[{"role": "user", "content": content}], response_format=Place
        )
    return reply.choices[0].message.parsed


def ask_responses(here: Served, model: str) -> Place | None:
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
    content: Any = [{"type": "input_text", "text": "where?"}, picture]
    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        reply = client.responses.parse(
            model=model, input=[{"role": "user", "content": content}], text_format=Place
        )
    return reply.output_parsed


def ask_claude(here: Served, model: str) -> Place | None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    content: Any = [{"type": "image", "source": source}, {"type": "text", "text": "where?"}]
    with anthropic.Anthropic(base_url=here.url, api_key="none", max_retries=0) as client:
        reply = client.messages.parse(
            model=model,
            max_tokens=1000,
            messages=[{"role": "user", "content": content}],
            output_format=Place,
        )
    return reply.parsed_output


def ask_gemini(here: Served, model: str) -> Place | None:
    options = genai_types.HttpOptions(base_url=here.url)
    picture = genai_types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    form = genai_types.GenerateContentConfig(
        response_mime_type="application/json", response_schema=Place
    )
    with closing(genai.Client(api_key="none", http_options=options)) as client:
        reply = client.models.generate_content(
            model=model, contents=["where?", picture], config=form
        )
    assert isinstance(reply.parsed, Place)
    return reply.parsed


def ask_ollama(here: Served, model: str) -> Place | None:
    turn = {"role": "user", "content": "where?", "images": [PNG]}
    client = ollama.Client(host=here.url)
    with closing(client._client):
        reply = client.chat(model=model, messages=[turn], format=Place.model_json_schema())
    return Place.model_validate_json(reply.message.content or "")


CLIENTS: dict[str, Callable[[Served, str], Place | None]] = {
    "openai": ask_openai,
    "openai-responses": ask_responses,
    "claude": ask_claude,
    "gemini": ask_gemini,
    "ollama": ask_ollama,
}


@pytest.mark.parametrize("vendor", ANSWERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_image_and_the_response_format_reach_the_vendor(
    here: Served, client: str, vendor: str
) -> None:
    place = CLIENTS[client](here, f"v-{vendor}/{MODELS[vendor]}")

    sent = here.vendors[vendor].received[-1].body.decode()
    assert place == Place(city="Oslo")
    # Between speakers of one format the bytes pass as they came, url-safe letters included.
    assert PNG in (sent if client != vendor else sent.replace("-", "+").replace("_", "/"))
    assert '"city"' in sent
