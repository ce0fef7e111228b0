"""A served gateway whose guardrails a test sets, and a vendor that says what a test wants."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, keyless_provider, serve_gateway

from gateway_core import Model
from gateway_core.identity.credentials import CLI_HEADER

SETTINGS = "/api/plugins/extension-guardrails/settings"
USAGE = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}


class Saying:
    """The vendor: every answer is ``text``, in pieces of ``size`` characters; a judge's is
    ``verdict``."""

    def __init__(self) -> None:
        self.text, self.size, self.call = "", 1, ""
        """``call`` holds the arguments of a tool call, in the place of a text."""
        self.verdict: str | None = '{"allow": true}'
        self.is_silent = False
        self.service = MockResponse((b'{"allow": true}',))

    def answer(self, received: ReceivedRequest) -> MockResponse:
        if received.target.startswith("/check"):
            return self.service
        body = received.json()
        if body["model"] == "judge":
            if self.is_silent:
                return MockResponse((b"",), pause=60)
            if self.verdict is None:
                return MockResponse((b"{}",), status=500)
            return whole({"role": "assistant", "content": self.verdict}, "stop")
        if body.get("stream"):
            return MockResponse.stream(*self._frames())
        if self.call:
            calls = [{"id": "c1", "type": "function", "function": self._function(self.call)}]
            said = {"role": "assistant", "content": None, "tool_calls": calls}
            return whole(said, "tool_calls")
        return whole({"role": "assistant", "content": self.text}, "stop")

    def _frames(self) -> Iterator[bytes]:
        text, size = self.call or self.text, self.size
        for start in range(0, len(text), size):
            piece = text[start : start + size]
            delta: dict[str, Any] = {"content": piece}
            if self.call:
                call: dict[str, Any] = {"index": 0, "function": self._function(piece)}
                if start == 0:
                    call |= {"id": "c1", "type": "function"}
                else:
                    del call["function"]["name"]
                delta = {"tool_calls": [call]}
            yield frame([{"index": 0, "delta": delta, "finish_reason": None}])
        finish = "tool_calls" if self.call else "stop"
        yield frame([{"index": 0, "delta": {}, "finish_reason": finish}])
        yield frame([], usage=USAGE)
        yield b"data: [DONE]\n\n"

    def _function(self, arguments: str) -> dict[str, Any]:
        return {"name": "pay", "arguments": arguments}


def whole(message: dict[str, Any], finish: str) -> MockResponse:
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE}
    return MockResponse((json.dumps({**made, "choices": choices}).encode(),))


def frame(choices: list[Any], **more: Any) -> bytes:
    made = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
    return b"data: %b\n\n" % json.dumps({**made, "choices": choices}).encode()


class GuardedGateway:
    """One gateway with rules."""

    def __init__(self, served: Served, saying: Saying) -> None:
        self.served, self.vendor = served, saying
        token = served.gateway.core.identity.cli_token
        self.client = httpx2.Client(base_url=served.url, timeout=60, headers={CLI_HEADER: token})

    def set_rules(self, *rules: dict[str, Any], **more: Any) -> httpx2.Response:
        answer = self.client.patch(SETTINGS, json={"rules": list(rules), **more})
        self.served.do(self.served.gateway.core.refresh())
        return answer

    def ask(self, text: str = "hi", *, stream: bool = False, **more: Any) -> httpx2.Response:
        messages = [{"role": "user", "content": text}]
        body = {"model": "v/m", "messages": messages, "stream": stream, **more}
        return self.client.post("/v1/chat/completions", json=body)

    def sent_to(self, model: str) -> str:
        """The body that a model got last."""
        received = self.served.vendors["openai"].received
        bodies = (each.body.decode() for each in reversed(received) if b'"model"' in each.body)
        return next(body for body in bodies if json.loads(body)["model"] == model)

    @property
    def row(self) -> Any:
        """Of the last call of a client."""
        return next(row for row in self.served.rows() if row.model_asked != "v/judge")

    @property
    def notes(self) -> tuple[str, ...]:
        """Of the last call of a client."""
        notes: tuple[str, ...] = self.row.notes
        return notes


@contextmanager
def guarded_gateway(folder: Path) -> Iterator[GuardedGateway]:
    saying = Saying()

    def specs(vendors: Any) -> list[Any]:
        models = (Model("m"), Model("judge"))
        return [keyless_provider("openai", vendors["openai"], id="v", models=models)]

    with serve_gateway(folder, {"openai": saying.answer}, specs=specs) as served:
        here = GuardedGateway(served, saying)
        with here.client:
            yield here
