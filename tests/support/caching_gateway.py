"""A served gateway that keeps answers, and a vendor that counts what it is asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from gateway_process import vendor
from manual_clock import Clock
from served_gateway import Served, serve_gateway

from gateway_core import Auth, Kind, Model, Price, ProviderSpec
from gateway_core.identity.credentials import CLI_HEADER
from gateway_providers import openai_compatible

PLUGIN = "extension-cache"
SETTINGS = f"/api/plugins/{PLUGIN}/settings"
USAGE = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}
Answer = Callable[[ReceivedRequest, int], MockResponse]
"""Answers a request, the number of which is given."""
DEFAULTS: dict[str, Any] = {
    "enabled": True,
    "models": ["*"],
    "scope": "key",
    "ttlSeconds": 3600,
    "maxTemperature": 0.0,
    "maxAnswerKilobytes": 1024,
    "maxMegabytes": 256,
    "embeddingModel": "",
    "similarFor": [],
    "similarThreshold": 0.95,
}


def chat(text: str, finish: str = "stop", **message: Any) -> MockResponse:
    """A whole answer in the chat-completions format."""
    said = {"role": "assistant", "content": text, **message}
    choices = [{"index": 0, "message": said, "finish_reason": finish}]
    made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE}
    return MockResponse((json.dumps({**made, "choices": choices}).encode(),))


def frame(choices: list[Any], **more: Any) -> bytes:
    made = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
    return b"data: %b\n\n" % json.dumps({**made, "choices": choices}).encode()


def streamed(*pieces: str, finish: str = "stop", **more: Any) -> MockResponse:
    """The same as a stream."""
    frames = [frame([{"index": 0, "delta": {"content": each}}]) for each in pieces]
    frames.append(frame([{"index": 0, "delta": {}, "finish_reason": finish}]))
    frames += [frame([], usage=USAGE), b"data: [DONE]\n\n"]
    return MockResponse.stream(*frames, **more)


def usual(received: ReceivedRequest, number: int) -> MockResponse:
    text = f"answer {number}"
    return streamed(*text) if received.json().get("stream") else chat(text)


class Counting:
    """The vendor."""

    url = ""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.asked: list[Any] = []
        """Bodies of the chat requests, in order."""
        self.compared: list[str] = []
        """The texts that it made vectors of."""
        self.answer: Answer = usual
        self.vectors: dict[str, list[float]] = {}

    def serve(self, received: ReceivedRequest) -> MockResponse:
        if received.method != "POST":
            return MockResponse(status=404)
        body = received.json()
        if received.path.endswith("/embeddings"):
            self.compared.append(body["input"])
            made = [{"embedding": self.vectors[body["input"]], "index": 0, "object": "embedding"}]
            usage = {"prompt_tokens": 2, "total_tokens": 2}
            answer = {"object": "list", "data": made, "model": body["model"], "usage": usage}
            return MockResponse((json.dumps(answer).encode(),))
        self.asked.append(body)
        return self.answer(received, len(self.asked))


class CachingGateway:
    """One gateway whose cache is on."""

    def __init__(self, served: Served, vendor: Counting, clock: Clock) -> None:
        self.served, self.vendor, self.clock = served, vendor, clock
        token = served.gateway.core.identity.cli_token
        self.client = httpx2.Client(base_url=served.url, timeout=60)
        """Of somebody on this machine, who needs no key."""
        operator = {CLI_HEADER: token}
        self.operator = httpx2.Client(base_url=served.url, timeout=60, headers=operator)

    def set(self, **settings: Any) -> None:
        answer = self.operator.patch(SETTINGS, json={**DEFAULTS, **settings})
        assert answer.status_code == 200, answer.text
        self.served.do(self.served.gateway.core.refresh())

    def key(self, name: str, **more: Any) -> str:
        """The text of a new key."""
        body = {"name": name, "machineId": "any", **more}
        made = self.operator.post("/api/keys", json=body)
        assert made.status_code == 201, made.text
        key: dict[str, str] = made.json()
        return key["key"]

    def ask(
        self,
        text: str = "hi",
        *,
        key: str = "",
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> httpx2.Response:
        messages = [{"role": "user", "content": text}]
        body = {"model": "v/m", "messages": messages, **more}
        own = {"authorization": f"Bearer {key}"} if key else {}
        sent = {**own, **(headers or {})}
        return self.client.post("/v1/chat/completions", json=body, headers=sent)

    @property
    def rows(self) -> list[Any]:
        """Of the calls of chat models, newest first."""
        return [row for row in self.served.rows() if row.endpoint != "/v1/embeddings"]


def outcome(response: httpx2.Response) -> str:
    """What the cache made of it."""
    assert response.status_code == 200, response.text
    said: str = response.headers["x-gateway-cache"]
    return said


@contextmanager
def counting_vendor() -> Iterator[Counting]:
    """The vendor, for several gateways."""
    counting = Counting()
    with vendor(counting.serve) as running:
        counting.url = running.url
        yield counting


@contextmanager
def caching_gateway(
    folder: Path, counting: Counting | None = None, **more: Any
) -> Iterator[CachingGateway]:
    with ExitStack() as stack:
        asked = counting or stack.enter_context(counting_vendor())
        clock, models = Clock(), (Model("m", price=Price(input=1, output=2)), Model("other"))
        fields: dict[str, Any] = {"auth": Auth(type="none"), "base_url": asked.url}
        of_openai = ProviderSpec(
            id="v", name="v", models=(*models, Model("e", kind=Kind.EMBEDDING)), **fields
        )
        specs = [
            openai_compatible(of_openai, services=("embedding",)),
            ProviderSpec(id="c", name="c", format="claude", models=models, **fields),
        ]
        served = serve_gateway(folder, {}, specs=lambda _: specs, clock=clock, **more)
        here = CachingGateway(stack.enter_context(served), asked, clock)
        stack.enter_context(here.client)
        stack.enter_context(here.operator)
        here.set()
        yield here
