"""Reloading: a new generation of processes on one socket, while the old one ends its streams."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import drop_ins
import httpx2
import pytest
from certificates import issue
from custom_node import add_node, operator
from gateway_process import vendor
from raw_http import connect, read_response, request, send_bytes
from reloads import HeldStreams, Newcomers, Reloaded, open_streams, read_rest, reloadable
from streaming_clients import statuses


def plugins(reloaded: Reloaded, data_dir: Path) -> set[str]:
    """The names of the plugins that are served."""
    with operator(reloaded.here, data_dir) as http:
        return {each["name"] for each in http.get("/api/plugins").json()["plugins"]}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("workers", "streams", "reloads"), [("1", 200, 20), ("2", 50, 3)])
def test_streams_and_newcomers_do_not_notice_reloads(
    tmp_path: Path, workers: str, streams: int, reloads: int
) -> None:
    data_dir, held = tmp_path / "data", HeldStreams()
    started = reloadable(data_dir, tmp_path / "log", "--workers", workers)
    with vendor(held) as lab, started as reloaded, ExitStack() as stack:
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, streams, stack)
        descriptors = reloaded.process.num_fds()
        with Newcomers(reloaded.url) as newcomers:
            before = plugins(reloaded, data_dir)
            for number in range(reloads):
                if number == 1:
                    drop_ins.folder_in(data_dir, appeared=drop_ins.vendor("appeared"))
                reloaded.reload("command" if number == 0 else "signal")
            after = plugins(reloaded, data_dir)
        later = reloaded.process.num_fds()
        last = open_streams(reloaded.url, 1, stack)
        held.is_released = True
        rest = read_rest([*peers, *last])
        # Those that have ended are gone: with workers, a generation has a process that leads it.
        reloaded.wait_for_processes(1 if workers == "1" else 1 + int(workers))

    assert newcomers.failures == []
    assert newcomers.served > reloads
    assert "appeared" not in before
    assert "appeared" in after
    assert all(b"[DONE]" in each.data for each in rest)
    assert statuses(data_dir) == ["ok"] * (streams + 1)
    assert later - descriptors < 20


def test_hypercorn_lets_streams_end_too(tmp_path: Path) -> None:
    data_dir, held = tmp_path / "data", HeldStreams()
    started = reloadable(data_dir, tmp_path / "log", "--server", "hypercorn")
    with vendor(held) as lab, started as reloaded, ExitStack() as stack:
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 5, stack)
        reloaded.reload()
        with connect(reloaded.url) as peer:
            send_bytes(peer, request("GET /api/health"))
            newcomer = read_response(peer, 30, until=b"true}")
        held.is_released = True
        rest = read_rest(peers)
        for peer in peers:
            peer.close()
        reloaded.wait_for_processes(1)

    assert newcomer.status == 200
    assert all(b"[DONE]" in each.data for each in rest)


def test_a_client_with_http2_does_not_notice_a_reload(tmp_path: Path) -> None:
    issued, over = issue(tmp_path), threading.Event()
    heard: list[tuple[int, str]] = []

    def talk(url: str) -> None:
        with httpx2.Client(http2=True, verify=issued.trusting(), timeout=30) as http:
            while not over.is_set():
                answer = http.get(f"{url}/api/health")
                heard.append((answer.status_code, answer.http_version))
                over.wait(0.05)

    started = reloadable(tmp_path / "data", tmp_path / "log", *issued.options)
    with started as reloaded, ThreadPoolExecutor(1) as pool:
        talking = pool.submit(talk, reloaded.url)
        for _ in range(2):
            reloaded.reload()
        over.set()
        talking.result(60)

    assert len(heard) > 2
    assert set(heard) == {(200, "HTTP/2")}
