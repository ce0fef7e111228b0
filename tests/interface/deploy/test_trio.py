"""Three gateways behind nginx, on PostgreSQL and Valkey, under load: each part is taken away."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from custom_node import add_node
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from gateway_process import vendor
from gateway_trio import Trio, gateway_trio, nginx_before, wait_for
from postgres_servers import Server, own_server
from valkey_server import ValkeyServer, valkey_server
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, WHOLE

LIMIT = 40
MINUTE = 60.0
EXPECTED = {200, 429, 502, 503}
"""502 is nginx's, where a gateway is gone; 503 is a gateway's, where a sum cannot be read."""


class Load:
    """Calls with one key through nginx, one after the other, in threads of its own."""

    def __init__(self, url: str, key: str, model: str, threads: int) -> None:
        self._url, self._key, self._model = url, key, model
        self.acknowledged: list[str] = []
        """Ids of requests whose whole answer was read."""
        self.times: list[tuple[float, float]] = []
        """When each of them was sent, and when its answer was read."""
        self.statuses: Counter[int] = Counter()
        self.cut = 0
        """Connections that ended without an answer."""
        self.is_over = False
        self.threads = [threading.Thread(target=self._call_on) for _ in range(threads)]

    def _call_on(self) -> None:
        body = {"model": f"lab/{self._model}", "messages": [{"role": "user", "content": "hi"}]}
        headers = {"authorization": f"Bearer {self._key}"}
        with httpx2.Client(base_url=self._url, trust_env=False, timeout=30) as http:
            while not self.is_over:
                sent = time.monotonic()
                try:
                    answer = http.post("/v1/chat/completions", json=body, headers=headers)
                except httpx2.TransportError:
                    self.cut += 1
                    continue
                self.statuses[answer.status_code] += 1
                if answer.status_code == 200:
                    self.times.append((sent, time.monotonic()))
                    self.acknowledged.append(answer.headers["x-request-id"])

    def goes_on(self, count: int = 20) -> None:
        """Wait for so many more answers."""
        before = len(self.acknowledged)
        wait_for(lambda: len(self.acknowledged) >= before + count)

    def most_in_a_minute(self) -> int:
        """The most calls that were certainly admitted within one minute."""
        return max(
            sum(sent >= begun and read <= begun + MINUTE for sent, read in self.times)
            for begun, _ in self.times
        )


@contextmanager
def running(*loads: Load) -> Iterator[None]:
    for load in loads:
        for thread in load.threads:
            thread.start()
    try:
        yield
    finally:
        for load in loads:
            load.is_over = True
        for load in loads:
            for thread in load.threads:
                thread.join(60)


def answer(received: ReceivedRequest) -> MockResponse:
    return MockResponse((WHOLE["openai"],))


def rows(database: Server, name: str) -> list[tuple[Any, ...]]:
    """Request id and tokens of each row of a key."""
    with psycopg.connect(database.url) as connection:
        return connection.execute(
            "SELECT request_id, input_tokens + output_tokens FROM usage JOIN api_keys"
            " ON api_keys.id = usage.api_key_id WHERE api_keys.name = %s AND usage.status = 'ok'",
            [name],
        ).fetchall()


def served(lab: FakeVendor, model: str) -> int:
    return sum(received.members().get("model") == model for received in lab.received)


@pytest.fixture
def lab() -> Iterator[FakeVendor]:
    with vendor(answer) as here:
        yield here


@pytest.fixture
def database() -> Iterator[Server]:
    with own_server() as server:
        server.start()
        yield server


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with valkey_server(tmp_path) as server:
        yield server


@pytest.fixture
def trio(tmp_path: Path, database: Server, valkey: ValkeyServer, lab: FakeVendor) -> Iterator[Trio]:
    variables = {"GATEWAY_PG_URL": database.url, "GATEWAY_VALKEY_URL": valkey.url}
    with gateway_trio(tmp_path, variables) as here:
        add_node(here.members[0], here.folders[0], lab)
        yield here


@pytest.mark.timeout(600)
def test_no_row_is_lost_and_limits_hold_whatever_is_taken_away(
    tmp_path: Path, trio: Trio, database: Server, valkey: ValkeyServer, lab: FakeVendor
) -> None:
    keys = {name: trio.add_key(name) for name in ("through-all", "calm")}
    limited_key = trio.add_key("limited", rpmLimit=LIMIT)
    with nginx_before(trio, tmp_path) as url:
        through_all = Load(url, keys["through-all"], "through-all", 2)
        limited = Load(url, limited_key, "limited", 1)
        with running(through_all, limited):
            wait_for(lambda: limited.statuses[429] > 0)
            trio.kill(2)
            through_all.goes_on()
            trio.restart(2)
            wait_for(trio.is_sharing)
            through_all.goes_on()
        most_while_shared = limited.most_in_a_minute()

        calm = Load(url, keys["calm"], "calm", 2)
        alone = Load(url, limited_key, "limited", 3)
        with running(calm, alone):
            valkey.kill()
            wait_for(lambda: not trio.is_sharing())
            calm.goes_on()
            valkey.start()
            wait_for(trio.is_sharing)
            calm.goes_on()
            database.stop("fast")
            calm.goes_on()
            database.start()
            calm.goes_on()
    answers = {**through_all.statuses, **limited.statuses, **calm.statuses, **alone.statuses}

    assert most_while_shared == LIMIT
    assert alone.most_in_a_minute() <= LIMIT * len(trio.members)
    assert set(answers) <= EXPECTED
    for load, name in ((through_all, "through-all"), (calm, "calm"), (limited, "limited")):
        seen = set(load.acknowledged)
        wait_for(lambda s=seen, n=name: s <= {id for id, _ in rows(database, n)})  # type: ignore[misc]
    booked = rows(database, "through-all")
    # What was under way at the gateway that was killed is known to the vendor alone.
    assert (
        0 <= served(lab, "through-all") - len(booked) <= through_all.cut + through_all.statuses[502]
    )
    assert len({id for id, _ in booked}) == len(booked)
    # Nothing else takes a call from its row.
    assert calm.cut == 0
    booked = rows(database, "calm")
    assert len(booked) == served(lab, "calm") == len(calm.acknowledged)
    assert {tokens for _, tokens in booked} == {INPUT_TOKENS + OUTPUT_TOKENS}
