"""Inference over HTTP/2: forwarding, slow clients and disconnects."""

import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import issue
from gateway_server_fast.multiplexed.stream import Stream
from h2_apps import settle
from h2_peer import Peer, place
from served_gateway import Served, serve_gateway
from stream_scripts import EVENTS, LONG, script


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http2")
    with serve_gateway(folder, {"openai": script}, server=request.param) as gateway:
        yield gateway


@pytest.fixture
def over(here: Served, tmp_path: Path) -> Callable[..., Any]:
    """Runs a client over HTTP/2 in the gateway's loop."""
    issued = issue(tmp_path)

    def run(work: Callable[[Peer], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            async with place(here.gateway.app, issued) as tls, tls.peer() as peer:
                return await work(peer)

        return here.do(main())

    return run


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each chunk, and each whole answer, was sent in the callback that received it."""
    found: list[bool] = []
    lock = threading.Lock()
    for name in ("push", "reply"):
        before = getattr(Stream, name)

        def quick(self: Stream, *reported: Any, before: Any = before) -> bool:
            is_sent: bool = before(self, *reported)
            with lock:
                found.append(is_sent)
            return is_sent

        monkeypatch.setattr(Stream, name, quick)
    return found


async def ask(peer: Peer, model: str) -> int:
    body = {"model": f"v-openai/{model}", "messages": [{"role": "user", "content": "hi"}]}
    written = json.dumps({**body, "stream": model != "whole"}).encode()
    kind = (b"content-type", b"application/json")
    number = await peer.request(b"/v1/chat/completions", kind, method=b"POST", ends=False)
    await peer.body(number, written, ends=True)
    return number


def test_a_whole_answer_is_sent_at_once(over: Callable[..., Any], pushed: list[bool]) -> None:
    async def work(peer: Peer) -> Any:
        return await peer.answer(await ask(peer, "whole"))

    heard = over(work)

    assert heard.status == 200
    assert json.loads(heard.body)["choices"][0]["message"]["content"] == "Hi"
    assert pushed == [True]


def test_a_stream_is_forwarded_chunk_by_chunk(over: Callable[..., Any], pushed: list[bool]) -> None:
    async def work(peer: Peer) -> Any:
        return await peer.answer(await ask(peer, "paced"))

    heard = over(work)

    assert heard.status == 200
    assert heard.body.count(b"data: ") == 22
    assert heard.body.endswith(b"data: [DONE]\n\n")
    assert pushed.count(True) > 10


async def heard(peer: Peer, number: int, size: int) -> bool:
    """Wait for so much of an answer; false when it has ended."""
    while not peer.ended(number) and len(peer.heard(number).body) < size:
        await peer.hear()
    return not peer.ended(number)


def test_a_slow_client_gets_the_whole_stream(over: Callable[..., Any]) -> None:
    async def work(peer: Peer) -> bytes:
        peer.takes = False
        number = await ask(peer, "much")
        taken = 65_535
        while await heard(peer, number, taken):
            taken += 3000
            peer.h2.increment_flow_control_window(3000)
            peer.h2.increment_flow_control_window(3000, number)
            await peer.flush()
        return peer.heard(number).body

    body = over(work)

    assert body.count(LONG) == EVENTS
    assert body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("how", ["reset", "lost"])
def test_a_client_disconnect_ends_the_vendors_stream(
    here: Served, over: Callable[..., Any], how: str
) -> None:
    vendor = here.vendors["openai"]
    gone = vendor.gone

    async def work(peer: Peer) -> None:
        number = await ask(peer, "endless")
        while not peer.heard(number).body:
            await peer.hear()
        if how == "lost":
            peer.writer.transport.abort()
        else:
            peer.h2.reset_stream(number)
            await peer.flush()
        await settle(lambda: vendor.gone > gone)

    over(work)

    row = here.rows()[0]
    assert (row.status, row.http_status) == ("client_gone", 499)
