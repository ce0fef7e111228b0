"""Keeping what was said, while somebody wants that."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from gateway_core import Kind
from gateway_core.config.environment import from_environ
from gateway_core.config.settings import Settings, read_settings
from gateway_core.contracts.provider import Call
from gateway_core.metering.request_log import MOST_WAITING, Extent, RequestLog, extent
from gateway_core.metering.request_record import RequestRecord
from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.stores.request_details import RequestDetail

pytestmark = pytest.mark.anyio
CALL = Call(kind=Kind.LLM, format="openai", model="m", stream=False, body=b'{"model":"m"}')


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Drawer:
    """Where details end up in these tests."""

    def __init__(self) -> None:
        self.batches: list[Sequence[RequestDetail]] = []
        self.keep = 0
        self.is_locked = False
        self.taken = asyncio.Event()

    async def insert_many(self, details: Sequence[RequestDetail], *, keep: int) -> None:
        self.taken.set()
        if self.is_locked:
            raise StorageUnavailable
        self.batches.append(details)
        self.keep = keep


async def observing(drawer: Drawer, **members: Any) -> RequestLog:
    async def read() -> Extent:
        return Extent(**{"is_on": True, **members})

    made = RequestLog(drawer, read)
    await made.refresh()
    return made


def one(observed: RequestLog, number: int = 1) -> None:
    """A request from its beginning to its end."""
    detail = observed.begin(CALL)
    observed.end(RequestRecord(f"r-{number}", "/v1/messages", "claude", 0.0), detail)


@pytest.mark.parametrize(
    ("document", "variables", "is_on"),
    [
        ({}, {}, False),
        ({"enableObservability": True}, {}, True),
        ({"enableObservability": False}, {}, False),
        ({"enableObservability": "yes"}, {}, False),
        ({}, {"OBSERVABILITY_ENABLED": "true"}, True),
        ({}, {"OBSERVABILITY_ENABLED": " TRUE "}, True),
        ({"enableObservability": True}, {"OBSERVABILITY_ENABLED": "false"}, False),
        ({"enableObservability": True}, {"OBSERVABILITY_ENABLED": " "}, True),
    ],
    ids=str,
)
def test_words_are_kept_only_when_somebody_said_so(
    document: dict[str, Any], variables: dict[str, str], is_on: bool
) -> None:
    assert extent(document, read_settings(document), from_environ(variables)).is_on is is_on


def test_a_variable_wins_over_a_setting() -> None:
    settings = msgspec.structs.replace(
        Settings(), observability_max_records=7, observability_batch_size=8
    )
    variables = {"OBSERVABILITY_MAX_RECORDS": "3", "OBSERVABILITY_MAX_JSON_SIZE": "5"}

    found = extent({}, settings, from_environ(variables))

    assert (found.most, found.batch, found.wait_ms, found.longest_kib) == (3, 8, 5000, 5)


async def test_it_is_off_at_first() -> None:
    async def read() -> Extent:
        return Extent()

    observed = RequestLog(Drawer(), read)
    await observed.refresh()

    assert not observed.is_on


async def test_a_full_batch_is_written_at_once() -> None:
    drawer = Drawer()
    observed = await observing(drawer, batch=2, most=9, wait_ms=3_600_000)

    one(observed, 1)
    one(observed, 2)
    await drawer.taken.wait()
    await observed.aclose()

    assert [[row.request_id for row in rows] for rows in drawer.batches] == [["r-1", "r-2"]]
    assert drawer.keep == 9


async def test_what_waits_is_written_in_time() -> None:
    drawer = Drawer()
    observed = await observing(drawer, batch=100, wait_ms=1)

    one(observed)
    await drawer.taken.wait()
    await observed.aclose()

    assert len(drawer.batches) == 1


async def test_closing_writes_what_is_left() -> None:
    drawer = Drawer()
    observed = await observing(drawer, wait_ms=3_600_000)
    one(observed)

    await observed.aclose()

    assert [row.request_id for row in drawer.batches[0]] == ["r-1"]


async def test_a_database_that_is_away_costs_no_memory(caplog: pytest.LogCaptureFixture) -> None:
    drawer = Drawer()
    drawer.is_locked = True
    observed = await observing(drawer, batch=1, wait_ms=1)

    for number in range(2 * MOST_WAITING):
        one(observed, number)
    await observed.aclose()
    drawer.is_locked = False
    one(observed, 1)
    await observed.aclose()

    assert caplog.text.count("Writing request details fails") == 1
    assert "Those of this while are lost" in caplog.text
    assert sum(map(len, drawer.batches)) == 1


async def test_only_so_many_wait() -> None:
    drawer = Drawer()
    observed = await observing(drawer, batch=10 * MOST_WAITING, wait_ms=3_600_000)

    for number in range(MOST_WAITING + 5):
        one(observed, number)
    await observed.aclose()

    assert sum(map(len, drawer.batches)) == MOST_WAITING
