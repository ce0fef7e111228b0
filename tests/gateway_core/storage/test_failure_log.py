"""Work that fails again and again is told once, then rarely, and when it works again."""

import logging

import pytest

from gateway_core.storage.errors import StorageFull, StorageUnavailable
from gateway_core.storage.failure_log import AGAIN, FailureLog

log = logging.getLogger("trouble")


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def trouble(clock: Clock) -> FailureLog:
    return FailureLog(log, "Writing rows", "They are kept.", clock)


def test_a_full_disk_is_told_once_with_what_to_do_and_without_a_trace(
    trouble: FailureLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(300):
        trouble.met(StorageFull())
        clock.now += 2.0

    [reported] = caplog.messages
    assert reported.startswith(
        "Writing rows fails: the disk takes no more data. Make room on the disk"
    )
    assert reported.endswith("They are kept.")
    assert caplog.records[0].exc_info is None


def test_what_lasts_is_told_again_rarely(
    trouble: FailureLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(int(2 * AGAIN / 2) + 1):
        trouble.met(StorageFull())
        clock.now += 2.0

    assert len(caplog.messages) == 3
    assert "Writing rows fails (451 times in 900 s): the disk takes" in caplog.messages[1]


def test_it_says_when_it_works_again_and_then_is_new(
    trouble: FailureLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    trouble.over()
    for _ in range(2):
        trouble.met(StorageFull())
        clock.now += 6.0
    trouble.over()
    trouble.over()
    trouble.met(StorageFull())

    _, over, again = caplog.records
    assert over.getMessage() == "Writing rows works again, after 2 failures in 12 s"
    assert over.levelno == logging.WARNING
    assert again.getMessage().startswith("Writing rows fails: ")


def test_the_engines_reason_is_told(trouble: FailureLog, caplog: pytest.LogCaptureFixture) -> None:
    error = StorageUnavailable()
    error.__cause__ = OSError("disk I/O error")

    trouble.met(error)

    assert "Writing rows fails: disk I/O error. See that the database can be" in caplog.text


def test_another_error_is_told_at_once_and_one_that_nobody_expects_has_a_trace(
    trouble: FailureLog, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        trouble.met(StorageFull())
        trouble.met(KeyError("row"))

    full, other = caplog.records
    assert full.exc_info is None
    assert "Writing rows fails (2 times in 0 s): KeyError: 'row'. They are" in other.getMessage()
    assert other.exc_info is not None
