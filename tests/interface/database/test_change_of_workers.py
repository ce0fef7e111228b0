"""Moving a gateway of several processes to PostgreSQL, and back, while all of them write."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from custom_node import add_node, operator
from gateway_process import Running, running, vendor
from postgres_servers import VERSIONS, make_database
from reloads import HeldStreams, open_streams, read_rest, reloadable
from worker_clients import Talk, one_each, pids, wait_for

from gateway_core.storage.migrate import migrate, packaged_migrations
from gateway_postgres.engine import open_postgres

PASSWORD = "a dashboard password 1"
VARIABLES = {"INITIAL_PASSWORD": PASSWORD}
CHAT = {"model": "echo/echo", "messages": [{"role": "user", "content": "hi"}]}
PATH = "/api/settings/database/"
PAUSED = "database cutover in progress"


class Writer:
    """Chats, saves settings and reads them at one worker, until it is gone or told to stop."""

    def __init__(self, talk: Talk, name: str) -> None:
        self.http, self.name = talk.http, name
        self.answered: list[str] = []
        self.saved: list[str] = []
        self.failures: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            try:
                self._once(f"{self.name}-{number}")
            except httpx2.TransportError:
                return

    def _once(self, name: str) -> None:
        answer = self.http.post("/v1/chat/completions", json=CHAT)
        if answer.status_code == 200:
            self.answered.append(answer.headers["x-request-id"])
        saved = self.http.patch("/api/settings", json={name: 1})
        if saved.status_code == 200:
            self.saved.append(name)
        # What was acknowledged is read at once, whichever engine it is in.
        read = self.http.get("/api/settings")
        is_refused = saved.status_code == 503 and PAUSED in saved.text
        if answer.status_code != 200 or not (saved.status_code == 200 or is_refused):
            self.failures.append(f"{answer.status_code} {saved.status_code} {saved.text}")
        if read.status_code != 200 or not set(self.saved) <= read.json().keys():
            self.failures.append(f"{name} is not there: {read.status_code}")


@contextmanager
def writing(talks: Sequence[Talk]) -> Iterator[list[Writer]]:
    """A writer at each worker, which have all been answered once."""
    writers = [Writer(talk, f"writer{place}") for place, talk in enumerate(talks)]
    try:
        wait_for(lambda: all(each.answered and each.saved for each in writers))
        yield writers
    finally:
        for each in writers:
            each.stop()


def call(http: httpx2.Client, method: str, path: str, body: Any = None) -> httpx2.Response:
    headers = {"x-gateway-password": PASSWORD}
    return http.request(method, PATH + path, json=body, headers=headers, timeout=60)


def engine_of(http: httpx2.Client) -> str:
    engine: str = call(http, "GET", "engine").json()["activeEngine"]
    return engine


@contextmanager
def talking(here: Running, data_dir: Path) -> Iterator[list[Talk]]:
    """A connection to each worker."""
    found = one_each(here, data_dir)
    try:
        yield [found[worker] for worker in sorted(found)]
    finally:
        for talk in found.values():
            talk.http.close()


def rows_in(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT request_id FROM usage")]


@pytest.fixture
def url(postgres: Callable[[str, str], str], request: pytest.FixtureRequest) -> str:
    server = postgres(VERSIONS[0], "workers")
    name = "".join(each if each.isalnum() else "_" for each in request.node.name.lower())
    return f"{make_database(server, name[-50:])}?sslmode=disable"


def test_every_worker_changes_over_under_load_and_back(tmp_path: Path, url: str) -> None:
    with (
        running(tmp_path, "--workers", "2", variables=VARIABLES) as here,
        talking(here, tmp_path) as load,
        talking(here, tmp_path) as (one, other),
    ):
        with writing(load) as writers:
            moved = call(one.http, "POST", "cutover", {"url": url})
            assert moved.status_code == 200, moved.text
            engines = [engine_of(each.http) for each in (other, one)]
            made = one.http.post("/api/keys", json={"name": "later", "machineId": "m"})
            keys = other.http.get("/api/keys").json()
        settings = other.ask("GET")
        saved = {name for each in writers for name in each.saved}
        answered = [name for each in writers for name in each.answered]
        wait_for(lambda: len(rows_in(url)) >= len(answered))
        rows = rows_in(url)

        unforced = call(other.http, "POST", "rollback", {})
        back = call(other.http, "POST", "rollback", {"force": True})
        engines_back = [engine_of(each.http) for each in (one, other)]
        noted = one.http.patch("/api/settings", json={"after": "the way back"})
        seen = other.ask("GET").get("after")
        keys_back = one.http.get("/api/keys").json()

    assert engines == ["postgres", "postgres"]
    assert [each.failures for each in writers] == [[], []]
    assert saved <= settings.keys()
    assert sorted(rows) == sorted(answered)
    assert made.status_code == 201
    assert len(keys["keys"]) == 1
    assert "Other processes" not in unforced.json()["warning"]
    assert back.status_code == 200, back.text
    assert engines_back == ["sqlite", "sqlite"]
    assert (noted.status_code, seen) == (200, "the way back")
    assert keys_back["keys"] == []


async def _migrate(url: str) -> None:
    database = await open_postgres(url)
    await migrate(database, packaged_migrations("postgres"), lambda: 0.0)
    await database.close()


def _hold_copy(connection: psycopg.Connection[Any]) -> None:
    connection.execute("LOCK TABLE usage IN ACCESS EXCLUSIVE MODE")


def _hold_settings(connection: psycopg.Connection[Any]) -> None:
    """After the copy was committed, and before SQLite's settings say so."""
    connection.execute(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        """IF NEW.data LIKE '%"databaseEngine":"postgres"%' """
        "THEN PERFORM pg_advisory_xact_lock(77); END IF; RETURN NEW; END $$"
    )
    connection.execute(
        "CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON settings "
        "FOR EACH ROW EXECUTE FUNCTION hold()"
    )
    connection.commit()
    connection.execute("SELECT pg_advisory_xact_lock(77)")


def _is_held(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None


@contextmanager
def held_change(
    http: httpx2.Client, url: str, hold: Callable[[psycopg.Connection[Any]], None]
) -> Iterator["Future[httpx2.Response]"]:
    """A cutover that waits at a point until the block ends."""
    asyncio.run(_migrate(url))
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as connection:
        hold(connection)
        moving = pool.submit(call, http, "POST", "cutover", {"url": url})
        wait_for(lambda: _is_held(url))
        yield moving
        connection.rollback()


@pytest.mark.parametrize("hold", [_hold_copy, _hold_settings])
def test_sqlite_stays_with_all_if_the_one_that_changes_over_is_killed(
    tmp_path: Path, url: str, hold: Callable[[psycopg.Connection[Any]], None]
) -> None:
    with (
        running(tmp_path, "--workers", "2", variables=VARIABLES) as here,
        talking(here, tmp_path) as load,
        talking(here, tmp_path) as (one, other),
    ):
        with writing(load) as writers:
            with held_change(one.http, url, hold) as moving:
                refused = other.http.patch("/api/settings", json={"meanwhile": 1})
                second = call(other.http, "POST", "cutover", {"url": url})
                progress = call(other.http, "GET", "engine").json()["progress"]
                os.kill(one.worker, signal.SIGKILL)
                with pytest.raises(httpx2.TransportError):
                    moving.result()
                wait_for(lambda: other.http.patch("/api/settings", json={"k": 1}).is_success)
            engine = engine_of(other.http)
        with talking(here, tmp_path) as again:
            engines = [engine_of(each.http) for each in again]
            moved = call(other.http, "POST", "cutover", {"url": url})
            changed = [engine_of(each.http) for each in again]
    rows = rows_in(url)

    assert (refused.status_code, PAUSED in refused.text) == (503, True)
    assert (second.status_code, second.headers["retry-after"]) == (503, "5")
    assert progress["step"] == ("copy" if hold is _hold_copy else "switch")
    assert engine == "sqlite"
    assert engines == ["sqlite", "sqlite"]
    assert one.worker not in [each.worker for each in again]
    assert [each.failures for each in writers] == [[], []]
    assert moved.status_code == 200, moved.text
    assert changed == ["postgres", "postgres"]
    assert {name for each in writers for name in each.answered} <= set(rows)
    assert len(rows) == len(set(rows))


def test_a_worker_that_is_replaced_meanwhile_starts_with_what_is_served_then(
    tmp_path: Path, url: str
) -> None:
    with (
        running(tmp_path, "--workers", "2", variables=VARIABLES) as here,
        talking(here, tmp_path) as load,
        talking(here, tmp_path) as (one, other),
    ):
        with writing(load) as writers:
            with held_change(one.http, url, _hold_copy) as moving:
                os.kill(other.worker, signal.SIGKILL)
                wait_for(lambda: len(set(pids(here)) - {other.worker}) == 2)
            moved = moving.result()
        with talking(here, tmp_path) as again:
            engines = [engine_of(each.http) for each in again]
    rows = rows_in(url)

    assert moved.status_code == 200, moved.text
    assert other.worker not in [each.worker for each in again]
    assert engines == ["postgres", "postgres"]
    assert [each.failures for each in writers] == [[], []]
    assert {name for each in writers for name in each.answered} <= set(rows)
    assert len(rows) == len(set(rows))


def test_a_process_that_was_reloaded_changes_over_while_the_one_before_ends(
    tmp_path: Path, url: str
) -> None:
    data_dir, held = tmp_path / "data", HeldStreams()
    started = reloadable(data_dir, tmp_path / "log", variables=VARIABLES)
    with vendor(held) as lab, started as reloaded, ExitStack() as stack:
        add_node(reloaded.here, data_dir, lab)
        peers = open_streams(reloaded.url, 1, stack)
        reloaded.reload()
        with operator(reloaded.here, data_dir) as http:
            moved = call(http, "POST", "cutover", {"url": url})
            engine = engine_of(http)
        held.is_released = True
        (rest,) = read_rest(peers)
        # What the earlier generation writes when its stream has ended.
        wait_for(lambda: len(rows_in(url)) == 1)

    assert moved.status_code == 200, moved.text
    assert engine == "postgres"
    assert b"[DONE]" in rest.data
