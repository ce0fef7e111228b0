"""Where answers are kept: bounds, restarts, several gateways."""

import time
from pathlib import Path
from typing import Any

import pytest
from caching_gateway import PLUGIN, CachingGateway, caching_gateway, chat, counting_vendor, outcome
from valkey_server import valkey_server

LONG = "x" * 20_000


def on_disk(here: CachingGateway) -> int:
    folder = here.served.gateway.core.data_dir.path / "plugin-data" / PLUGIN
    return sum(path.stat().st_size for path in folder.iterdir())


def test_what_was_not_used_for_longest_makes_room(here: CachingGateway) -> None:
    here.set(maxMegabytes=1)
    here.vendor.answer = lambda *_: chat(LONG)
    room = 1024 * 1024 // 27_500  # as much as a sealed answer takes
    for number in range(room):
        here.ask(f"question {number}")
    assert outcome(here.ask("question 0")) == "hit"

    for number in range(room, room + 4):
        here.ask(f"question {number}")

    assert outcome(here.ask("question 0", headers={"x-gateway-cache": "only"})) == "hit"
    gone = here.ask("question 1", headers={"x-gateway-cache": "only"})
    assert gone.status_code == 504


def test_many_requests_do_not_grow_the_disk(here: CachingGateway) -> None:
    here.set(maxMegabytes=1)
    here.vendor.answer = lambda *_: chat(LONG)
    for number in range(60):
        here.ask(f"question {number}")
    before = on_disk(here)

    for number in range(60, 200):
        here.ask(f"question {number}")

    assert on_disk(here) <= before + 256 * 1024
    assert on_disk(here) < 8 * 1024 * 1024  # with SQLite's log, which is written over


def test_a_smaller_bound_counts_from_the_next_answer_on(here: CachingGateway) -> None:
    here.vendor.answer = lambda *_: chat(LONG)
    for number in range(60):
        here.ask(f"question {number}")
    here.set(maxMegabytes=1)
    here.ask("the next one")

    only = {"x-gateway-cache": "only"}
    statuses = [here.ask(f"question {n}", headers=only).status_code for n in (0, 20, 59)]
    assert statuses == [504, 504, 200]


def test_answers_outlive_the_gateway(tmp_path: Path) -> None:
    with counting_vendor() as vendor:
        with caching_gateway(tmp_path, vendor) as here:
            here.ask()
        with caching_gateway(tmp_path, vendor) as again:
            assert outcome(again.ask()) == "hit"
    assert len(vendor.asked) == 1


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    with caching_gateway(tmp_path) as here:
        here.ask()
        folder = here.served.gateway.core.data_dir.path / "plugin-data" / PLUGIN
    for path in folder.iterdir():
        path.write_bytes(b"no database" * 1000)
    with caching_gateway(tmp_path) as again:
        assert [outcome(again.ask()) for _ in range(2)] == ["miss", "hit"]


def test_a_folder_that_cannot_be_used_stops_no_request(tmp_path: Path) -> None:
    (tmp_path / "plugin-data" / PLUGIN / "kept.sqlite").mkdir(parents=True)
    with caching_gateway(tmp_path) as here:
        assert [outcome(here.ask()) for _ in range(2)] == ["miss", "miss"]


@pytest.fixture
def pair(tmp_path: Path) -> Any:
    """Two gateways that share a state and a database's secrets."""
    (tmp_path / "server").mkdir()
    with valkey_server(tmp_path / "server") as server, counting_vendor() as vendor:
        variables = {"GATEWAY_VALKEY_URL": server.url}
        with caching_gateway(tmp_path / "one", vendor, variables=variables) as first:
            # What seals is the same for all gateways that are one.
            seals = (tmp_path / "one").glob("master-key")
            for path in seals:
                other = tmp_path / "two" / path.relative_to(tmp_path / "one")
                other.parent.mkdir()
                other.write_bytes(path.read_bytes())
                other.chmod(0o600)
            with caching_gateway(tmp_path / "two", vendor, variables=variables) as second:
                yield server, first, second


def test_gateways_that_share_a_state_share_answers(pair: Any) -> None:
    server, first, second = pair
    first.ask()
    end = time.monotonic() + 20
    while second.ask(headers={"x-gateway-cache": "only"}).status_code != 200:
        assert time.monotonic() < end

    assert outcome(second.ask()) == "hit"
    assert len(second.vendor.asked) == 1
    assert not list(Path(first.served.gateway.core.data_dir.path).rglob("kept.sqlite"))
    first.set(maxMegabytes=1)
    first.vendor.answer = lambda *_: chat(LONG)
    for number in range(60):
        first.ask(f"question {number}")
    registry = first.served.gateway.core.snapshot.registry
    client = registry.shared_state._contents
    kept = first.served.do(client._run("KEYS", "*:content:*"))
    assert 20 < len(kept) < 40
    server.kill()
    assert outcome(first.ask("without a server")) == "miss"
