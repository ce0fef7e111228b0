"""A killed gateway: acknowledged data is there afterwards (security test S41)."""

import random
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
from gateway_process import start

from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER, cli_token
from gateway_core.metering.ledger import FLUSH_AFTER

ROUNDS = 3
MARGIN = 0.75
"""Seconds that writing may take on a busy machine, beyond the delay of rows."""
CHAT = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}


class Load:
    """Sends requests and saves settings and keys until the gateway is gone."""

    def __init__(self, url: str, token: str, name: str) -> None:
        self.url, self.name = url, name
        self.headers = {CLI_HEADER: token}
        self.answered: list[tuple[str, float]] = []
        """Request ids, and when the answer was there."""
        self.saved: list[str] = []
        self.keys: list[str] = []
        self._work = (self._chat, self._chat, self._save, self._mint)
        self.threads = [threading.Thread(target=self._until_gone, args=(w,)) for w in self._work]

    def _until_gone(self, work: Any) -> None:
        number = 0
        with httpx2.Client(base_url=self.url, trust_env=False, timeout=5) as client:
            while True:
                number += 1
                try:
                    work(client, number)
                except httpx2.TransportError:
                    return

    def _chat(self, client: httpx2.Client, number: int) -> None:
        response = client.post("/v1/chat/completions", json=CHAT)
        assert response.status_code == 200
        self.answered.append((response.headers["x-request-id"], time.monotonic()))

    def _save(self, client: httpx2.Client, number: int) -> None:
        key = f"{self.name}-{number}"
        response = client.patch("/api/settings", json={key: number}, headers=self.headers)
        assert response.status_code == 200
        self.saved.append(key)

    def _mint(self, client: httpx2.Client, number: int) -> None:
        body = {"name": f"{self.name}-{number}", "machineId": "any"}
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
        time.sleep(chance.uniform(0.4, 1.2))  # the moment of the kill is what is tested
        killed_at = time.monotonic()
        here.kill()
        for thread in load.threads:
            thread.join()
        assert here.process.stdout is not None
        here.process.stdout.close()
        check_rows(tmp_path, load, killed_at)

    check_configuration(tmp_path, loads, token)


def check_rows(data_dir: Path, load: Load, killed_at: float) -> None:
    """The ledger has each answer except the very last ones, and none twice."""
    with sqlite3.connect(data_dir / "db" / "data.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = [row[0] for row in database.execute("SELECT request_id FROM usage")]
    early = {name for name, at in load.answered if at < killed_at - FLUSH_AFTER - MARGIN}
    assert early <= set(rows)
    assert len(rows) == len(set(rows))
    assert load.saved
    assert load.keys


def check_configuration(data_dir: Path, loads: list[Load], token: str) -> None:
    """Every setting and every key that was acknowledged works."""
    here = start(data_dir)
    try:
        with httpx2.Client(base_url=here.url, trust_env=False, timeout=10) as client:
            document = client.get("/api/settings", headers={CLI_HEADER: token}).json()
            keys = [key for load in loads for key in load.keys]
            codes = {
                client.get("/v1/models", headers={"x-api-key": key, "via": "x"}).status_code
                for key in keys
            }
    finally:
        here.kill()
        assert here.process.stdout is not None
        here.process.stdout.close()
    assert {name for load in loads for name in load.saved} <= document.keys()
    assert codes == {200}
