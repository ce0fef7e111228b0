"""Two gateways on one PostgreSQL database: what one writes, the other one knows."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from batch_clients import BatchClient, ChatScript, row, wait_for
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway

from gateway_batches.batches import batches_of
from gateway_core.identity.credentials import CLI_HEADER

Answer = Callable[[ReceivedRequest], MockResponse]
CHAT = "/v1/chat/completions"
BODY = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}
SHARED = ("master-key", "api-key-secret")
WITHIN = 1.0
"""Seconds in which a change is known everywhere."""


@contextmanager
def replica(
    folder: Path,
    url: str,
    answer: Answer,
    like: Path | None = None,
    mounted: tuple[str, ...] = (),
) -> Iterator[Served]:
    """A gateway; ``like`` is the data directory whose secrets and ``mounted`` folders it shares."""
    folder.mkdir(exist_ok=True)
    for name in mounted if like else ():
        (like / name).mkdir(mode=0o700, exist_ok=True)
        (folder / name).symlink_to(like / name)
    for name in SHARED if like else ():
        if (like / name).exists():
            shutil.copy(like / name, folder / name)
    variables = {"GATEWAY_PG_URL": url, "GATEWAY_PG_SSLMODE": "disable"}
    with serve_gateway(folder, {"openai": answer}, variables=variables) as served:
        yield served


@pytest.fixture
def pair(tmp_path: Path, url: str, vendor_answer: Answer) -> Iterator[tuple[Served, Served]]:
    first, second = tmp_path / "first", tmp_path / "second"
    with (
        replica(first, url, vendor_answer) as one,
        replica(second, url, vendor_answer, like=first) as other,
    ):
        yield one, other


def ask(here: Served, http: httpx2.Client, method: str, path: str, **body: Any) -> Any:
    headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
    answer = http.request(method, here.url + path, headers=headers, json=body)
    assert answer.status_code < 300, answer.text
    return answer.json()


def chat(here: Served, http: httpx2.Client, key: str) -> int:
    headers = {"authorization": f"Bearer {key}"}
    return http.post(here.url + CHAT, json=BODY, headers=headers).status_code


def take_effect(look: Callable[[], bool]) -> float:
    """Seconds until it does."""
    began = time.monotonic()
    while not look():
        assert time.monotonic() < began + 30
    return time.monotonic() - began


def cut_listeners(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        cut = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        ).fetchall()
    assert len(cut) == 2


def test_a_change_at_one_takes_effect_at_the_other_within_a_second(
    pair: tuple[Served, Served], http: httpx2.Client, url: str
) -> None:
    one, other = pair
    ask(one, http, "PATCH", "/api/settings", requireApiKey=True)
    assert take_effect(lambda: chat(other, http, "none") == 401) < WITHIN

    key = ask(one, http, "POST", "/api/keys", name="first", machineId="m")
    assert take_effect(lambda: chat(other, http, key["key"]) == 200) < WITHIN

    ask(other, http, "DELETE", f"/api/keys/{key['id']}")
    assert take_effect(lambda: chat(one, http, key["key"]) == 401) < WITHIN


def test_so_it_does_once_the_listening_connections_were_cut(
    pair: tuple[Served, Served], http: httpx2.Client, url: str
) -> None:
    one, other = pair
    ask(one, http, "PATCH", "/api/settings", requireApiKey=True)
    cut_listeners(url)

    # Nobody listens at this moment: the numbers of the groups say that there was a write.
    key = ask(one, http, "POST", "/api/keys", name="while away", machineId="m")
    assert take_effect(lambda: chat(other, http, key["key"]) == 200) < 2 * WITHIN

    key = ask(one, http, "POST", "/api/keys", name="afterwards", machineId="m")
    assert take_effect(lambda: chat(other, http, key["key"]) == 200) < WITHIN


def test_one_runs_a_batch_and_another_one_on_the_same_folders_goes_on(
    tmp_path: Path, url: str
) -> None:
    script, first, second = ChatScript(), tmp_path / "first", tmp_path / "second"
    script.held |= {"row 10", "row 11"}
    with replica(first, url, script) as one:
        with (
            replica(second, url, script, like=first, mounted=("files", "batches")) as other,
            BatchClient(other.url, second) as client,
        ):
            id = client.create([row(n) for n in range(30)])["id"]
            wait_for(lambda: script.total >= 12)
        script.held.clear()
        with BatchClient(one.url, first) as client:
            ended = client.wait(id)
            output = client.output(ended)

    assert Counter(line["custom_id"] for line in output) == {f"row-{n}": 1 for n in range(30)}
    # What was under way at the stop was sent again, and nothing else.
    assert {text for text, count in script.written.items() if count > 1} <= {"row 10", "row 11"}


def test_a_gateway_without_its_folder_leaves_a_batch_to_others(tmp_path: Path, url: str) -> None:
    script, first, second = ChatScript(), tmp_path / "first", tmp_path / "second"
    script.held.add("row 1")
    with replica(first, url, script) as one:
        with (
            replica(second, url, script, like=first) as other,
            BatchClient(other.url, second) as client,
        ):
            id = client.create([row(n) for n in range(3)])["id"]
            wait_for(lambda: script.total == 3)
        script.held.clear()

        async def look() -> None:
            await batches_of(one.gateway.core).scheduler._look()

        one.do(look())
        with BatchClient(one.url, first) as client:
            assert client.get(id)["status"] == "in_progress"
        with (
            replica(second, url, script) as other,
            BatchClient(other.url, second) as client,
        ):
            assert client.wait(id)["status"] == "completed"
