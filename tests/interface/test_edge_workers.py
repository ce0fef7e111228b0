"""Several workers on one port: they share state, are replaced, and stop together."""

import os
import signal
from pathlib import Path

import httpx2
import psutil
import pytest
from gateway_process import Running, running
from worker_clients import WORKERS, Talk, one_each, pids, wait_for, workers

from gateway_cli.event_loop import LOOPS
from gateway_core.identity.credentials import CLI_HEADER


@pytest.mark.parametrize("server", LOOPS)
def test_workers_share_what_is_stored_and_are_replaced(tmp_path: Path, server: str) -> None:
    with running(tmp_path, "--loop", server, "--workers", str(WORKERS)) as here:
        one, other = one_each(here, tmp_path).values()
        one.ask("PATCH", {"note": "from the other worker"})
        saw = wait_for(lambda: other.ask("GET").get("note") == "from the other worker")

        os.kill(one.worker, signal.SIGKILL)
        came = wait_for(lambda: len(set(pids(here)) - {one.worker}) == WORKERS)
        still = other.ask("GET")
        again = one_each(here, tmp_path)

        for talk in (one, other, *again.values()):
            talk.http.close()
        here.process.send_signal(signal.SIGTERM)
        code = here.process.wait(15)

    assert saw < 3
    assert came < 5
    assert still["note"] == "from the other worker"
    assert one.worker not in again
    assert code == 0
    assert here.printed.count("listens on") == 1


def test_a_call_at_one_worker_is_counted_by_another(tmp_path: Path) -> None:
    body = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}
    new = {"name": "few", "machineId": "any", "policy": {"monthlyRequestLimit": 1}}
    with running(tmp_path, "--workers", str(WORKERS)) as here:
        one, other = one_each(here, tmp_path).values()
        key = one.http.post("/api/keys", json=new).json()["key"]
        for talk in (one, other):
            del talk.http.headers[CLI_HEADER]
        headers = {"authorization": f"Bearer {key}", "via": "a proxy, so that the key counts"}
        # A worker sees within a second which keys the other one has made.
        wait_for(lambda: other.http.get("/v1/models", headers=headers).status_code == 200)
        codes = [
            talk.http.post("/v1/chat/completions", json=body, headers=headers).status_code
            for talk in (one, other)
        ]
        for talk in (one, other):
            talk.http.close()

    assert codes == [200, 429]


LOGIN_VARIABLES = {
    "JWT_SECRET": "a-canary-that-signs-the-sessions-of-a-test",
    "INITIAL_PASSWORD": "first-canary-word",
}


def guess(here: Running) -> int:
    """The status of a wrong password on a new connection, at any worker."""
    body, headers = {"password": "wrong canary"}, {"origin": here.url}
    with httpx2.Client(trust_env=False, timeout=20) as http:
        return http.post(f"{here.url}/api/auth/login", json=body, headers=headers).status_code


def test_a_lockout_applies_to_every_worker_until_the_next_start(tmp_path: Path) -> None:
    guesses: list[int] = []
    with running(tmp_path, "--workers", str(WORKERS), variables=LOGIN_VARIABLES) as here:
        while 429 not in guesses and len(guesses) < 5 * WORKERS:
            guesses.append(guess(here))
        later = [guess(here) for _ in range(12)]
    with running(tmp_path, "--workers", str(WORKERS), variables=LOGIN_VARIABLES) as here:
        fresh = guess(here)

    assert set(guesses) <= {401, 429}
    assert 429 in guesses
    assert set(later) == {429}
    assert fresh == 401


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, "--workers", str(WORKERS)) as here:
        wait_for(lambda: len(workers(here)) == WORKERS)
        left = workers(here)

        here.kill()
        _, alive = psutil.wait_procs(left, timeout=10)

    assert alive == []


def test_a_stop_request_to_one_worker_stops_all(tmp_path: Path) -> None:
    with running(tmp_path, "--workers", str(WORKERS)) as here:
        wait_for(lambda: len(workers(here)) == WORKERS)
        talk = Talk(here, tmp_path)

        os.kill(talk.worker, signal.SIGTERM)
        code = here.process.wait(15)
        talk.http.close()

    assert code == 0


def test_a_second_gateway_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, "--workers", str(WORKERS)) as here:
        reported = psutil.Popen(
            [*here.process.args, "--data-dir", str(tmp_path)],  # type: ignore[misc]
            stderr=-1,
            stdout=-1,
        )
        _, written = reported.communicate(timeout=20)

    assert reported.returncode == 1
    assert b"is in use by another gateway" in written
