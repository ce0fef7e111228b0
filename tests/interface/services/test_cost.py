"""What the work of a service's call is beside that of a chat call."""

import cProfile
import pstats
from typing import Any

import httpx2
import msgspec
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

CALLS = 20
CHAT = (
    "/v1/chat/completions",
    {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": "hi"}]},
    b'{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}',
)
VECTORS = (
    "/v1/embeddings",
    {"model": "openai/text-embedding-3-small", "input": "hi"},
    b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],'
    b'"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}}',
)


def work(here: Served, http: httpx2.Client, path: str, body: dict[str, Any]) -> int:
    """How many functions the gateway's thread calls, its fake vendor's among them, for a number of
    calls on one connection."""
    content = msgspec.json.encode(body)
    headers = {"content-type": "application/json"}

    def ask() -> None:
        assert http.post(f"{here.url}{path}", content=content, headers=headers).status_code == 200

    # What is made once for a connection, a model or a vendor is there by then.
    for _ in range(3):
        ask()
    profile = cProfile.Profile()

    async def turn(is_on: bool) -> None:
        profile.enable() if is_on else profile.disable()

    here.do(turn(True))
    for _ in range(CALLS):
        ask()
    here.do(turn(False))
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_vectors_take_little_more_work_than_chat(connected: Any, http: httpx2.Client) -> None:
    answers = {path: answer for path, _, answer in (CHAT, VECTORS)}

    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse((answers[received.path],))

    here: Served = connected(say)

    chat, vectors = (work(here, http, path, body) for path, body, _ in (CHAT, VECTORS))

    assert chat > 1000 * CALLS / 20  # Something was counted.
    # Measured 1.14; what runs beside the calls is counted too.
    assert vectors <= chat * 1.25, (vectors, chat)
