"""Streams on the fast path whose clients need keep-alives while the vendor is silent."""

import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_core import Auth, ProviderSpec
from gateway_core.pipeline import client_response as clients
from gateway_core.pipeline.fast_path import stream as streaming

EARLY, BEAT = 0.25, 0.4
"""Seconds: until a stream is opened early, and between keep-alives."""
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def word(text: str) -> bytes:
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 3, "output_tokens": 1},
}
FIRST = (
    event("message_start", message=MESSAGE)
    + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    + word("Hi")
)
LAST = (
    event("content_block_stop", index=0)
    + event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 4})
    + event("message_stop")
)
WORDS = tuple(word(str(number)) for number in range(6))
STREAM = b"".join((FIRST, *WORDS, LAST))

VENDORS = {
    "quick": MockResponse.stream(FIRST, *WORDS, LAST),
    "late": MockResponse.stream(FIRST, *WORDS, LAST, delay=3 * EARLY),
    "late words": MockResponse.stream(
        b": hello\n\n", FIRST + b"".join(WORDS), LAST, pause=3 * EARLY
    ),
    "paced": MockResponse.stream(FIRST, *WORDS, LAST, pause=0.1),
    "slow": MockResponse.stream(FIRST, b"".join(WORDS), LAST, pause=1.5 * BEAT),
    "refuses late": MockResponse((b'{"error":{"message":"no"}}',), 400, delay=3 * EARLY),
}
TAKEN_OVER = {"late", "late words", "slow", "refuses late"}


def script(received: ReceivedRequest) -> MockResponse:
    return VENDORS[received.json()["model"]]


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    url, keyless = vendors["any"].url, Auth(type="none")
    return [
        ProviderSpec(id=name, name=name, format="claude", base_url=url, auth=keyless)
        for name in ("usual", "quick")
    ]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("silence")
    variables = {"SSE_KEEPALIVE_MS": str(int(BEAT * 1000))}
    with (
        pytest.MonkeyPatch.context() as patch,
        serve_gateway(folder, {"any": script}, specs=specs, variables=variables) as gateway,
    ):
        patch.setattr(clients, "EARLY_AFTER", EARLY)
        patch.setattr(streaming, "EARLY_AFTER", EARLY)
        yield gateway


def ask(client: httpx2.Client, model: str) -> tuple[int, bytes]:
    body = {"model": model, "stream": True, "max_tokens": 9}
    messages = [{"role": "user", "content": "hello"}]
    answer = client.post("/v1/messages", json={**body, "messages": messages})
    known = answer.headers["x-request-id"].encode()
    return answer.status_code, answer.content.replace(known, b"ID").replace(b"usual", b"quick")


def row_of(here: Served, provider: str) -> tuple[object, ...]:
    until = time.monotonic() + 10
    while here.gateway.core.in_flight and time.monotonic() < until:
        time.sleep(0.01)
    row = next(row for row in here.rows() if row.provider == provider)
    names = "status http_status error_code input_tokens output_tokens attempts upstream_format"
    return tuple(getattr(row, name) for name in names.split())


@pytest.mark.parametrize("name", VENDORS)
def test_keep_alives_are_the_same_on_both_paths(
    here: Served, taken: list[bool], handed: list[bool], name: str
) -> None:
    limits = httpx2.Limits(max_connections=1)
    heard = {}
    for way in ("usual", "quick"):
        with httpx2.Client(base_url=here.url, trust_env=False, limits=limits) as client:
            if way == "quick":
                ask(client, "quick/quick")
            heard[way] = ask(client, f"{way}/{name}")
            row = row_of(here, way)
            after = ask(client, f"{way}/quick")
            heard[way] = (*heard[way], row)

    usual, quick = heard["usual"], heard["quick"]
    pings = [each[1].count(PING) for each in (usual, quick)]
    assert handed == ([True] if name in TAKEN_OVER else [])
    assert all(taken)
    assert quick[0] == usual[0]
    assert quick[1].replace(PING, b"") == usual[1].replace(PING, b"")
    assert (pings[0] > 0) is (pings[1] > 0) is (name in TAKEN_OVER)
    assert abs(pings[0] - pings[1]) <= 1
    assert quick[2] == usual[2]
    # The first event names the model as it was asked for; all others are the vendor's own bytes.
    first, _, rest = after[1].partition(b"\n\n")
    assert (after[0], rest) == (200, STREAM.partition(b"\n\n")[2])
    assert b'"model":"quick/quick"' in first.replace(b" ", b"")


def test_a_client_that_disconnects_in_a_silence_leaves_no_timer(
    here: Served, taken: list[bool], handed: list[bool]
) -> None:
    vendor = here.vendors["any"]
    gone = vendor.gone
    with httpx2.Client(base_url=here.url, trust_env=False, timeout=EARLY / 3) as client:
        client.timeout = httpx2.Timeout(10)
        ask(client, "quick/quick")
        client.timeout = httpx2.Timeout(EARLY / 3)
        with pytest.raises(httpx2.ReadTimeout):
            ask(client, "quick/late")
    until = time.monotonic() + 10
    while vendor.gone == gone and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(2 * EARLY)

    assert taken == [True]
    assert not handed
    assert row_of(here, "quick")[:2] == ("client_gone", 499)


def test_no_reference_cycles_are_left(here: Served, taken: list[bool], handed: list[bool]) -> None:
    def alive() -> int:
        kinds = ("Streaming", "Flow", "Cycle", "Answer", "Verbatim")
        return sum(type(each).__name__ in kinds for each in gc.get_objects())

    with httpx2.Client(base_url=here.url, trust_env=False) as client:
        for _ in range(3):
            ask(client, "quick/quick")
        row_of(here, "quick")
        gc.collect()
        gc.disable()
        try:
            before = alive()
            for name in ["paced"] * 4 + ["slow"]:
                ask(client, f"quick/{name}")
            row_of(here, "quick")
            after = alive()
        finally:
            gc.enable()

    assert all(taken)
    assert handed == [True]
    assert after <= before + 2
