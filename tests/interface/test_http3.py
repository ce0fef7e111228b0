"""A gateway that speaks HTTP/3: started as an operator starts it, and with vendors behind it."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from certificates import Issued, issue
from flows import EVENTS, LONG, REPLY, script
from h2_apps import settle
from h2_peer import place
from h3_peer import Peer3, peer3
from process import running
from served import Served, served

JSON = (b"content-type", b"application/json")


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    folder: Path = tmp_path_factory.mktemp("certificate")
    return issue(folder)


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http3")
    with served(folder, {"openai": script}, server=request.param) as gateway:
        yield gateway


@pytest.fixture
def over(here: Served, issued: Issued) -> Callable[..., Any]:
    """Has a client do something over HTTP/3, in the gateway's own loop."""

    def run(work: Callable[[Peer3], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            serving = place(here.gateway.app, issued, http3=True)
            async with serving as there, peer3(there.port, issued) as peer:
                return await work(peer)

        return here.do(main())

    return run


def ask(peer: Peer3, model: str) -> int:
    body = {"model": f"v-openai/{model}", "messages": [{"role": "user", "content": "hi"}]}
    said = json.dumps({**body, "stream": model != "whole"}).encode()
    return peer.request(b"/v1/chat/completions", JSON, method=b"POST", body=said)


def test_a_whole_answer_is_passed_on(here: Served, over: Callable[..., Any]) -> None:
    async def work(peer: Peer3) -> Any:
        return await peer.answer(ask(peer, "whole"))

    heard = over(work)

    assert (heard.status, heard.body) == (200, REPLY)
    row = here.rows()[0]
    assert (row.status, row.input_tokens, row.output_tokens) == ("ok", 3, 1)


def test_a_stream_flows_as_it_comes(over: Callable[..., Any]) -> None:
    async def work(peer: Peer3) -> tuple[int, Any]:
        number = ask(peer, "paced")
        await peer.until(lambda: b"data: " in peer.heard(number).body)
        early = peer.heard(number).body.count(b"data: ")
        return early, await peer.answer(number)

    early, heard = over(work)

    assert early < 10
    assert heard.body.count(b"data: ") == 22
    assert heard.body.endswith(b"data: [DONE]\n\n")


def test_much_of_a_stream_comes_whole(over: Callable[..., Any]) -> None:
    async def work(peer: Peer3) -> Any:
        return await asyncio.gather(*(peer.answer(ask(peer, "much")) for _ in range(5)))

    heard = over(work)

    assert {each.body.count(LONG) for each in heard} == {EVENTS}
    assert {each.body[-14:] for each in heard} == {b"data: [DONE]\n\n"}


def test_a_refusal_of_the_vendor_is_told(over: Callable[..., Any]) -> None:
    async def work(peer: Peer3) -> Any:
        return await peer.answer(ask(peer, "broken"))

    heard = over(work)

    assert heard.status == 400
    assert json.loads(heard.body)["error"]["message"]


@pytest.mark.parametrize("how", ["given up", "lost"])
def test_a_client_that_leaves_ends_what_the_vendor_does(
    here: Served, over: Callable[..., Any], how: str
) -> None:
    vendor = here.vendors["openai"]
    gone = vendor.gone

    async def work(peer: Peer3) -> None:
        number = ask(peer, "endless")
        await peer.until(lambda: peer.heard(number).body)
        if how == "lost":
            peer.close()
        else:
            peer.give_up(number, sending=False)
        await settle(lambda: vendor.gone > gone)

    over(work)

    row = here.rows()[0]
    assert (row.status, row.http_status) == ("client_gone", 499)


@pytest.mark.parametrize("options", [(), ("--server", "asyncio"), ("--workers", "2")])
def test_an_operator_switches_it_on(
    issued: Issued, tmp_path: Path, options: tuple[str, ...]
) -> None:
    chat = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}
    bodies = [json.dumps({**chat, "stream": stream}).encode() for stream in (False, True)]

    async def work(port: int) -> list[Any]:
        heard = []
        for _ in range(8):
            async with peer3(port, issued) as peer:
                for body in bodies:
                    number = peer.request(b"/v1/chat/completions", JSON, method=b"POST", body=body)
                    heard.append(await peer.answer(number))
        return heard

    with running(tmp_path, "--http3", *options, *issued.options) as gateway:
        port = httpx2.URL(gateway.url).port or 0
        with httpx2.Client(verify=issued.trusting(), trust_env=False) as http:
            known = http.get(f"{gateway.url}/api/health").headers["alt-svc"]
        heard = asyncio.run(work(port))
        gateway.process.send_signal(signal.SIGTERM)
        code = gateway.process.wait(15)

    assert known == f'h3=":{port}"; ma=86400'
    assert {each.status for each in heard} == {200}
    assert {each.body[-14:] for each in heard[1::2]} == {b"data: [DONE]\n\n"}
    assert code == 0


def test_without_the_switch_there_is_none(issued: Issued, tmp_path: Path) -> None:
    with running(tmp_path, *issued.options) as gateway:
        with httpx2.Client(verify=issued.trusting(), trust_env=False) as http:
            headers = http.get(f"{gateway.url}/api/health").headers
        taken = psutil.Process(gateway.process.pid).net_connections("udp")

    assert "alt-svc" not in headers
    assert not taken


def start(data: Path, *options: str, before: str = "") -> "subprocess.CompletedProcess[str]":
    """A start that is to fail; ``before`` is run ahead of it."""
    program = f"{before}\nfrom gateway_core.cli.main import main\nmain()"
    command = [sys.executable, "-c", program, "--data-dir", str(data), "--http3", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_it_needs_a_certificate(tmp_path: Path) -> None:
    ended = start(tmp_path, "--port", "0")

    assert ended.returncode == 1
    assert ended.stderr == (
        "Error: HTTP/3 needs a certificate: give --tls-cert or GATEWAY_TLS_CERT.\n"
    )


def test_it_needs_an_extra(issued: Issued, tmp_path: Path) -> None:
    missing = "import sys; sys.modules['aioquic'] = None"
    ended = start(tmp_path, "--port", "0", *issued.options, before=missing)

    assert ended.returncode == 1
    assert ended.stderr == "Error: HTTP/3 needs more: pip install 'model-gateway[http3]'\n"


def test_a_port_that_is_taken_is_told(issued: Issued, tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = str(other.getsockname()[1])
        ended = start(tmp_path, "--port", port, *issued.options)

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: Cannot take datagrams on port {port} (")
    assert ended.stderr.endswith("or leave --http3 out.\n")
