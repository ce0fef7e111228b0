"""A killed gateway: acknowledged data is there afterwards (security test S41)."""

import random
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psutil
from gateway_process import running, start

from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER, cli_token

ROUNDS = 3
CHAT = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}


class Load:
    """Sends requests and saves settings and keys until the gateway is gone."""

    def __init__(self, url: str, token: str, name: str) -> None:
        self.url, self.name = url, name
        self.headers = {CLI_HEADER: token}
        self.answered: list[str] = []
        """Ids of requests whose end was seen."""
        self.saved: list[str] = []
        self.keys: list[str] = []
        self.is_over = False
        self._work = (self._chat, self._stream, self._refused, self._save, self._mint)
        self.threads = [threading.Thread(target=self._until_gone, args=(w,)) for w in self._work]

    @property
    def is_warm(self) -> bool:
        """Each kind of work was acknowledged at least once."""
        return bool(self.answered and self.saved and self.keys)

    def _until_gone(self, work: Any) -> None:
        number = 0
        with httpx2.Client(base_url=self.url, trust_env=False, timeout=5) as client:
            while not self.is_over:
                number += 1
                try:
                    work(client, number)
                except httpx2.TransportError:
                    return

    def _chat(self, client: httpx2.Client, number: int) -> None:
        # The key of a call changes from time to time, and so does whether it has limits.
        is_keyed = self.keys and number % 3
        headers = {"authorization": f"Bearer {self.keys[-1]}"} if is_keyed else {}
        response = client.post("/v1/chat/completions", json=CHAT, headers=headers)
        assert response.status_code == 200
        self.answered.append(response.headers["x-request-id"])

    def _stream(self, client: httpx2.Client, number: int) -> None:
        body = {**CHAT, "stream": True}
        with client.stream("POST", "/v1/chat/completions", json=body) as response:
            for line in response.iter_lines():
                if line == "data: [DONE]":
                    self.answered.append(response.headers["x-request-id"])

    def _refused(self, client: httpx2.Client, number: int) -> None:
        response = client.post("/v1/chat/completions", json={**CHAT, "model": "nobody/m"})
        assert response.status_code == 404
        self.answered.append(response.headers["x-request-id"])

    def _save(self, client: httpx2.Client, number: int) -> None:
        key = f"{self.name}-{number}"
        response = client.patch("/api/settings", json={key: number}, headers=self.headers)
        assert response.status_code == 200
        self.saved.append(key)

    def _mint(self, client: httpx2.Client, number: int) -> None:
        limits = {"monthlyRequestLimit": 10**6} if number % 2 else {}
        body = {"name": f"{self.name}-{number}", "machineId": "any", "policy": limits}
        response = client.post("/api/keys", json=body, headers=self.headers)
        assert response.status_code == 201
        self.keys.append(response.json()["key"])


def test_nothing_that_was_acknowledged_is_lost_when_the_gateway_is_killed(tmp_path: Path) -> None:
    chance = random.Random(41)
    owned = DataDir(tmp_path)
    token = cli_token(owned.raw_machine_id(), owned.cli_secret())
    loads: list[Load] = []

    for number in range(ROUNDS):
        here = start(tmp_path)
        load = Load(here.url, token, f"round{number}")
        loads.append(load)
        for thread in load.threads:
            thread.start()
        wait_for(lambda load=load: load.is_warm)  # type: ignore[misc]
        time.sleep(chance.uniform(0.1, 0.9))  # the moment of the kill is what is tested
        here.kill()
        for thread in load.threads:
            thread.join()
        assert here.process.stdout is not None
        here.process.stdout.close()
        check_database(tmp_path)

    check_configuration(tmp_path, loads, token)
    answered = [name for load in loads for name in load.answered]
    rows = written(tmp_path)
    assert set(answered) - set(rows) == set()
    assert len(rows) == len(set(rows))
    assert journals(tmp_path) == []


def test_a_killed_workers_rows_are_written_by_the_one_that_replaces_it(tmp_path: Path) -> None:
    owned = DataDir(tmp_path)
    token = cli_token(owned.raw_machine_id(), owned.cli_secret())
    with running(tmp_path, "--workers", "2") as here:
        load = Load(here.url, token, "workers")
        for thread in load.threads:
            thread.start()
        wait_for(lambda: load.is_warm and len(psutil.Process(here.process.pid).children()) == 2)
        before = psutil.Process(here.process.pid).children()
        kept = {path for path in journals(tmp_path) if path.suffix == ".lock"}
        before[0].kill()
        for thread in load.threads:
            thread.join(5)  # Those of the other worker go on.
        # Of the killed worker.
        wait_for(lambda: not kept <= set(journals(tmp_path)))
        wait_for(lambda: set(load.answered) <= set(written(tmp_path)))
        other_lives = before[1].is_running()
        load.is_over = True
        for thread in load.threads:
            thread.join()
    rows = written(tmp_path)

    assert other_lives
    assert set(load.answered) - set(rows) == set()
    assert len(rows) == len(set(rows))
    # A worker that is stopped while it starts leaves an empty journal, for the next start.
    assert [path for path in journals(tmp_path) if path.suffix != ".lock"] == []


def check_database(data_dir: Path) -> None:
    with closing(sqlite3.connect(data_dir / "db" / "data.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def wait_for(reached: Callable[[], bool]) -> None:
    """Poll for what happens in another process, for ten seconds at most."""
    until = time.monotonic() + 10
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.02)


def written(data_dir: Path) -> list[str]:
    """The ids of the requests in the ledger."""
    with closing(sqlite3.connect(data_dir / "db" / "data.sqlite")) as database:
        return [row[0] for row in database.execute("SELECT request_id FROM usage")]


def journals(data_dir: Path) -> list[Path]:
    """What journals are left."""
    return list((data_dir / "db" / "journal").iterdir())


def check_configuration(data_dir: Path, loads: list[Load], token: str) -> None:
    """Every setting and every key that was acknowledged works."""
    with (
        running(data_dir) as here,
        httpx2.Client(base_url=here.url, trust_env=False, timeout=10) as client,
    ):
        document = client.get("/api/settings", headers={CLI_HEADER: token}).json()
        keys = [key for load in loads for key in load.keys]
        codes = {
            client.get("/v1/models", headers={"x-api-key": key, "via": "x"}).status_code
            for key in keys
        }
    assert {name for load in loads for name in load.saved} <= document.keys()
    assert codes == {200}
