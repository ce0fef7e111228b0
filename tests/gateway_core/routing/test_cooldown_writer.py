"""How accounts fare is written a little late, and again when the database did not take it."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from gateway_core.config.environment import from_environ
from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing import cooldown_writer as module
from gateway_core.routing.cooldown_writer import CooldownWriter
from gateway_core.routing.cooldowns import Cooldowns
from gateway_core.routing.failure_rules import FailureClass
from gateway_core.storage.errors import StorageFull


class Rows:
    """The accounts' rows, which can be full."""

    def __init__(self) -> None:
        self.is_full = False
        self.attempts = 0
        self.members: dict[str, dict[str, Any]] = {}

    async def note(self, notes: Mapping[str, Mapping[str, Any]]) -> None:
        self.attempts += 1
        if self.is_full:
            raise StorageFull
        for account, members in notes.items():
            self.members.setdefault(account, {}).update(members)


def record_failure(health: Cooldowns, status: int) -> None:
    error = UpstreamError(f"said {status}", status=status)
    health.record_failure("a", "m", error, FailureClass(retry=True, cooldown=60.0))


@pytest.fixture
def health() -> Cooldowns:
    return Cooldowns(from_environ({}), lambda: 1_800_000_000.0)


async def until(rows: Rows, attempts: int) -> None:
    async with asyncio.timeout(10):
        while rows.attempts < attempts:
            await asyncio.sleep(0)


def test_a_full_disk_neither_ends_the_writing_nor_loses_what_is_newest(
    health: Cooldowns, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "EVERY", 0.0)
    rows = Rows()

    async def work() -> None:
        following = asyncio.create_task(CooldownWriter(health, rows.note).follow())
        rows.is_full = True
        record_failure(health, 500)
        await until(rows, 3)
        record_failure(health, 503)
        rows.is_full = False
        await until(rows, 4)
        following.cancel()

    asyncio.run(work())

    assert rows.members["a"]["errorCode"] == 503
    assert rows.members["a"]["testStatus"] == "unavailable"
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.WARNING]


async def _broken(notes: Mapping[str, Mapping[str, Any]]) -> None:
    raise TypeError("no such row")


def test_what_can_never_be_written_does_not_stand_in_the_way(
    health: Cooldowns, caplog: pytest.LogCaptureFixture
) -> None:
    record_failure(health, 500)

    asyncio.run(CooldownWriter(health, _broken).write())

    assert health.take_changes() == {}
    assert caplog.records[0].exc_info is not None
