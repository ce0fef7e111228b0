"""The chat endpoints, a minimal body for each, and two vendors with scripted answers."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
GPT = json.dumps(
    {
        "id": "chatcmpl-9",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "fine"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }
).encode()
CLAUDE = json.dumps(
    {
        "id": "msg_9",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "fine"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
).encode()
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-completions": "/v1/completions",
    "openai-responses": "/v1/responses",
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/v-openai/m:generateContent",
    "ollama": "/v1/api/chat",
}
BODIES: dict[str, dict[str, Any]] = {
    "openai": {"model": "v-openai/m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-completions": {"model": "v-openai/m", "prompt": "hi"},
    "openai-responses": {"model": "v-openai/m", "input": "hi"},
    "claude": {
        "model": "v-openai/m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {
        "model": "v-openai/m",
        "stream": False,
        "messages": [{"role": "user", "content": "hi"}],
    },
}


class Vendor:
    """Answers with the script of the current test."""

    def __init__(self, usual: bytes) -> None:
        self.usual = usual
        self.say: Callable[[ReceivedRequest], MockResponse] | None = None

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        return self.say(received) if self.say else MockResponse((self.usual,))


GPT_VENDOR, CLAUDE_VENDOR = Vendor(GPT), Vendor(CLAUDE)


def post(http: httpx2.Client, here: Served, wire: str, **more: Any) -> httpx2.Response:
    body = {**BODIES[wire], **more}
    return http.post(here.url + PATHS[wire], json=body)


def gpt_stream(*words: str) -> list[bytes]:
    def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {
            "id": "chatcmpl-9",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    frames = [frame({"role": "assistant", "content": ""})]
    frames += [frame({"content": word}) for word in words]
    return [*frames, frame({}, "stop"), b"data: [DONE]\n\n"]
