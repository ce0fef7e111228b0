"""Whether new requests are to be sent to a gateway: GET /api/ready."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from custom_node import EVENT, STREAM, add_node
from gateway_process import Running, running, vendor
from postgres_servers import own_server
from raw_http import connect, read_response, request, send_bytes, sized
from served_gateway import serve_gateway
from streaming_clients import slow, wait_until_refused

from gateway_cli.event_loop import LOOPS

READY = "/api/ready"
HEALTH = "/api/health"
LATER = {"GATEWAY_DRAIN_DELAY_MS": "60000"}


def ask(url: str, path: str = READY) -> httpx2.Response:
    return httpx2.get(url + path, trust_env=False, timeout=20)


def wait_until_draining(here: Running) -> httpx2.Response:
    deadline = time.monotonic() + 10
    while (answer := ask(here.url)).status_code == 200:
        assert time.monotonic() < deadline
    return answer


def test_a_gateway_that_serves_is_ready(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {}) as here:
        answer = ask(here.url)
        head = httpx2.head(here.url + READY, trust_env=False)

    assert (answer.status_code, answer.json()) == (200, {"ready": True})
    assert answer.headers["cache-control"] == "no-store"
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_within_the_delay_it_says_that_it_drains_and_still_serves(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    started = running(tmp_path, *more, variables=LATER)
    with vendor(slow) as lab, started as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        peer = stack.enter_context(connect(here.url))
        send_bytes(peer, sized(STREAM))
        read_response(peer, 15, until=EVENT % b"a")
        here.process.send_signal(signal.SIGTERM)

        draining, healthy = wait_until_draining(here), ask(here.url, HEALTH)
        later = stack.enter_context(connect(here.url))
        send_bytes(later, sized(STREAM))
        begun = read_response(later, 15, until=EVENT % b"a")
        here.process.send_signal(signal.SIGTERM)
        wait_until_refused(here)
        streams = [read_response(each, 15).data for each in (peer, later)]
        ended = here.process.wait(20)

    assert (draining.status_code, draining.json()) == (503, {"ready": False, "reason": "draining"})
    assert draining.headers["cache-control"] == "no-store"
    assert healthy.status_code == begun.status == 200
    assert all(b"[DONE]" in each for each in streams)
    assert ended == 0


@pytest.mark.parametrize("server", LOOPS)
def test_without_a_delay_a_stop_refuses_the_question_while_a_stream_ends(
    tmp_path: Path, server: str
) -> None:
    started = running(tmp_path, "--loop", server)
    with vendor(slow) as lab, started as here, ExitStack() as stack:
        add_node(here, tmp_path, lab)
        streaming, half = (stack.enter_context(connect(here.url)) for _ in range(2))
        send_bytes(half, request(f"GET {READY}"))
        assert read_response(half, 10, until=b"true}").status == 200
        send_bytes(half, request(f"GET {READY}")[:-2])
        send_bytes(streaming, sized(STREAM))
        read_response(streaming, 15, until=EVENT % b"a")

        here.process.send_signal(signal.SIGTERM)
        wait_until_refused(here)
        send_bytes(half, b"\r\n")
        late, rest = read_response(half, 10), read_response(streaming, 15)

    assert late.status == 503
    assert b"The gateway is stopping" in late.data
    assert b"[DONE]" in rest.data


def test_without_its_database_it_is_healthy_but_not_ready_and_becomes_so_again(
    tmp_path: Path,
) -> None:
    with own_server() as server:
        server.start()
        variables = {"GATEWAY_PG_URL": server.url, "GATEWAY_PG_SSLMODE": "disable"}
        with serve_gateway(tmp_path, {}, variables=variables) as here:
            assert ask(here.url).status_code == 200
            server.stop()
            away = until(here.url, 503)
            healthy = ask(here.url, HEALTH)
            server.start()
            again = until(here.url, 200)

    assert away.json() == {"ready": False, "reason": "database away"}
    assert healthy.status_code == 200
    assert again.json() == {"ready": True}


def until(url: str, status: int) -> httpx2.Response:
    deadline = time.monotonic() + 30
    while (answer := ask(url)).status_code != status:
        assert time.monotonic() < deadline
    return answer


def test_many_who_ask_are_one_question_to_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway_core.http.readiness.FRESH", 60.0)
    with serve_gateway(tmp_path, {}) as here, ThreadPoolExecutor(4) as pool:
        database = here.gateway.core.stores.database
        queries, fetch = list[str](), database.fetch

        async def count(sql: str, /, **values: object) -> object:
            queries.append(sql)
            return await fetch(sql, **values)

        monkeypatch.setattr(database, "fetch", count)
        answers = list(pool.map(ask, [here.url] * 20))

    assert {each.status_code for each in answers} == {200}
    assert queries.count("SELECT 1") == 1
