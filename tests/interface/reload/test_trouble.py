"""Reloads that cannot be, that fail, that are too many, or that are cut short by a stop."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from custom_node import add_node
from gateway_process import COMMAND, vendor
from raw_http import connect, read_response, request, send_and_read, send_bytes
from reloads import HeldStreams, Reloaded, open_streams, read_rest, reloadable
from streaming_clients import endless, statuses, wait_until_refused

WORKERS = ["1", "2"]
TOO_MANY = "4 generations still finish their requests"
HEALTH = request("GET /api/health")


def is_served(reloaded: Reloaded) -> bool:
    return send_and_read(reloaded.url, HEALTH, within=30, until=b"true}").status == 200


@pytest.mark.parametrize("workers", WORKERS)
def test_a_generation_that_does_not_start_changes_nothing(tmp_path: Path, workers: str) -> None:
    data_dir, held = tmp_path / "data", HeldStreams()
    started = reloadable(data_dir, tmp_path / "log", "--workers", workers)
    with vendor(held) as lab, started as reloaded, ExitStack() as stack:
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 2, stack)
        key = data_dir / "master-key"
        right = key.read_bytes()
        key.write_bytes(right[::-1])
        reloaded.hang_up()
        reloaded.wait_for("generation 2 does not start")
        still = is_served(reloaded)
        # What was wrong can be put right, and the next one starts.
        key.write_bytes(right)
        reloaded.generation = 2
        reloaded.reload()
        held.is_released = True
        rest = read_rest(peers)

    why = next(line for line in reloaded.log().splitlines() if "does not start" in line)
    assert "is not the key" in why
    assert "the one before goes on serving" in why
    assert still
    assert all(b"[DONE]" in each.data for each in rest)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_stop_during_a_reload_stops_every_generation(tmp_path: Path, workers: str) -> None:
    data_dir = tmp_path / "data"
    short = {"GATEWAY_DRAIN_MS": "300"}
    started = reloadable(data_dir, tmp_path / "log", "--workers", workers, variables=short)
    with vendor(endless) as lab, started as reloaded, ExitStack() as stack:
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 2, stack)
        reloaded.reload()
        peers += open_streams(reloaded.url, 2, stack)
        first = reloaded.process
        count = len(first.children(recursive=True))
        reloaded.hang_up()
        reloaded.wait_for_processes(count + 1)
        below = first.children(recursive=True)
        first.terminate()
        wait_until_refused(reloaded.here)
        rest = [read_response(peer, 30) for peer in peers]
        code = reloaded.here.process.wait(40)
        _, left = psutil.wait_procs(below, timeout=20)

    assert code == 0
    assert left == []
    assert all(b"The gateway is stopping" in each.data for each in rest)
    assert statuses(data_dir) == ["error"] * 4


@pytest.mark.parametrize("workers", WORKERS)
def test_generations_end_when_the_first_process_is_killed(tmp_path: Path, workers: str) -> None:
    data_dir = tmp_path / "data"
    with reloadable(data_dir, tmp_path / "log", "--workers", workers) as reloaded:
        reloaded.reload()
        below = reloaded.process.children(recursive=True)
        reloaded.here.kill()
        _, left = psutil.wait_procs(below, timeout=40)

    assert below
    assert left == []


def test_the_gateway_ends_with_the_generation_that_serves(tmp_path: Path) -> None:
    with reloadable(tmp_path / "data", tmp_path / "log") as reloaded:
        reloaded.reload()
        reloaded.wait_for_processes(1)
        (serving,) = reloaded.process.children()
        serving.kill()
        code = reloaded.here.process.wait(40)

    assert code == 1
    assert "generation 2 ended with -9" in reloaded.log()


def test_a_reload_waits_while_too_many_generations_have_requests(tmp_path: Path) -> None:
    data_dir, held = tmp_path / "data", HeldStreams()
    with (
        vendor(held) as lab,
        reloadable(data_dir, tmp_path / "log") as reloaded,
        ExitStack() as stack,
    ):
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 1, stack)
        # A stream may be accepted by the generation before, until that has seen that it is retired.
        while TOO_MANY not in reloaded.log():
            reloaded.hang_up()
            reloaded.wait_for(f"generation {reloaded.generation + 1} serves", TOO_MANY)
            reloaded.generation += 1
            peers += open_streams(reloaded.url, 1, stack)
        waiting = reloaded.process.children()
        held.is_released = True
        rest = read_rest(peers)
        for peer in peers:
            peer.close()
        reloaded.wait_for(f"generation {reloaded.generation} serves")
        reloaded.wait_for_processes(1)

    assert len(waiting) == 4
    assert all(b"[DONE]" in each.data for each in rest)


def test_requests_of_an_old_generation_end_when_their_time_is_up(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    short = {"GATEWAY_RELOAD_DRAIN_MS": "300", "GATEWAY_DRAIN_MS": "300"}
    with (
        vendor(endless) as lab,
        reloadable(data_dir, tmp_path / "log", variables=short) as reloaded,
        ExitStack() as stack,
    ):
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 3, stack)
        reloaded.reload()
        rest = [read_response(peer, 30) for peer in peers]
        still = is_served(reloaded)

    assert all(b"The gateway is stopping" in each.data for each in rest)
    assert "requests of an earlier generation still run" in reloaded.log()
    assert still


def test_a_kept_connection_is_answered_once_more_and_closed(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with reloadable(data_dir, tmp_path / "log") as reloaded, ExitStack() as stack:
        kept, fresh = (stack.enter_context(connect(reloaded.url)) for _ in range(2))
        send_bytes(kept, HEALTH)
        read_response(kept, 10, until=b"true}")
        reloaded.reload()
        for peer in (kept, fresh):
            send_bytes(peer, HEALTH)
        answers = [read_response(peer, 20) for peer in (kept, fresh)]

    assert [each.status for each in answers] == [200, 200]
    assert b"connection: close" in answers[0].data
    assert answers[0].closed


def test_without_a_gateway_the_command_says_so(tmp_path: Path) -> None:
    command = [COMMAND, "--data-dir", str(tmp_path), "reload"]

    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: No gateway runs with the data directory {tmp_path}.")
