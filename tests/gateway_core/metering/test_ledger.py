"""Rows are written in batches, kept while the database fails, and all written on close."""

import asyncio
import errno
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from key_limits_setup import key
from snapshots import provider, target

from gateway_core import Price, Usage
from gateway_core.contracts.model import Model
from gateway_core.metering import ledger as module
from gateway_core.metering.ledger import FLUSH_ROWS, MOST_WAITING, Ledger, record_of
from gateway_core.metering.prices import Prices
from gateway_core.metering.request_record import RequestRecord
from gateway_core.metering.timestamps import Timestamps
from gateway_core.storage import journal as journal_module
from gateway_core.storage.errors import StorageFull
from gateway_core.storage.journal import Journal, open_journals, rows_after
from gateway_core.storage.stores.usage import Mark, UsageRecord


class Book:
    """A database that can be made to fail, or to wait at a gate."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.marks: list[Mark] = []
        self.attempts = 0
        self.fails = False
        self.gate: asyncio.Event | None = None

    async def write(self, records: Sequence[UsageRecord], mark: Mark) -> None:
        self.attempts += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise StorageFull
        self.batches.append([record.request_id for record in records])
        self.marks.append(mark)

    @property
    def rows(self) -> list[str]:
        return [row for batch in self.batches for row in batch]


def record(id: int | str) -> RequestRecord:
    return RequestRecord(str(id), "/v1/messages", "claude", 1_800_000_000.0)


def used(number: int) -> RequestRecord:
    """A call of a key that used three tokens."""
    finished = record(number)
    finished.key, finished.attempts = key(), 1
    finished.usage = Usage(input_tokens=3)
    return finished


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def with_ledger(work: Callable[[Ledger, Book], Awaitable[None]], **more: Any) -> Book:
    async def main(folder: Path) -> Book:
        book = Book()
        with closing(Journal(folder, "j")) as journal:
            await work(Ledger(book.write, journal, Prices(), **more), book)
        return book

    with TemporaryDirectory() as folder:
        return asyncio.run(main(Path(folder)))


def journaled(ledger: Ledger, after: int = 0) -> list[str]:
    """What another process would find in the journal."""
    with open_journals(ledger._journal._folder) as journals:
        return [row.request_id for row, _ in rows_after(journals.get("j", []), after)]


async def turns(until: Callable[[], bool]) -> None:
    """Let others run until something holds."""
    async with asyncio.timeout(10):
        while not until():
            await asyncio.sleep(0)


def test_everything_that_waits_is_written_on_close() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        for number in range(2 * FLUSH_ROWS + 50):
            ledger.record(record(number))
        await ledger.aclose()

    book = with_ledger(work)

    assert book.rows == numbers(2 * FLUSH_ROWS + 50)
    assert max(map(len, book.batches)) == FLUSH_ROWS


def test_a_full_batch_is_written_at_once() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        for number in range(FLUSH_ROWS):
            ledger.record(record(number))
        await turns(lambda: bool(book.batches))
        await ledger.aclose()

    assert with_ledger(work).rows == numbers(FLUSH_ROWS)


def test_a_single_row_is_written_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FLUSH_AFTER", 0.0)

    async def work(ledger: Ledger, book: Book) -> None:
        ledger.record(record(0))
        await turns(lambda: bool(book.batches))
        await ledger.aclose()

    assert with_ledger(work).rows == ["0"]


def test_rows_that_come_while_others_are_written_wait_for_company(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_AFTER", 0.001)

    async def work(ledger: Ledger, book: Book) -> None:
        book.gate = asyncio.Event()
        ledger.record(record("first"))
        await turns(lambda: book.attempts == 1)
        monkeypatch.setattr(module, "FLUSH_AFTER", 3600)
        ledger.record(record("second"))
        book.gate.set()
        await turns(lambda: bool(book.batches))
        for _ in range(20):
            await asyncio.sleep(0)
        assert book.batches == [["first"]]
        await ledger.aclose()

    assert with_ledger(work).batches == [["first"], ["second"]]


def test_rows_wait_while_the_database_fails_and_are_written_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "FLUSH_AFTER", 0.0)
    monkeypatch.setattr(module, "RETRY_AFTER", 0.001)

    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        for number in range(3):
            ledger.record(record(number))
        await turns(lambda: book.attempts >= 5)
        assert book.batches == []
        book.fails = False
        await turns(lambda: bool(book.batches))
        await ledger.aclose()

    book = with_ledger(work)

    assert book.rows == numbers(3)
    full, again = caplog.messages
    assert "Make room on the disk" in full
    assert "They are kept and tried again" in full
    assert "Writing usage rows works again, after " in again


def test_a_failing_database_is_not_asked_again_for_every_request() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        for number in range(FLUSH_ROWS):
            ledger.record(record(number))
        await turns(lambda: book.attempts == 1 and ledger._flushing is None)
        for number in range(FLUSH_ROWS, FLUSH_ROWS + 50):
            ledger.record(record(number))
            await asyncio.sleep(0)
        assert book.attempts == 1
        book.fails = False
        await ledger.aclose()

    assert with_ledger(work).rows == numbers(FLUSH_ROWS + 50)


def test_a_flush_raises_what_the_database_raises_and_loses_nothing() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        ledger.record(record(0))
        with pytest.raises(StorageFull):
            await ledger.flush()
        book.fails = False
        await ledger.flush()
        await ledger.aclose()

    assert with_ledger(work).rows == ["0"]


def test_two_flushes_at_once_write_each_row_once() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.gate = asyncio.Event()
        for number in range(10):
            ledger.record(record(number))
        first = asyncio.create_task(ledger.flush())
        await turns(lambda: book.attempts == 1)
        for number in range(10, FLUSH_ROWS + 50):
            ledger.record(record(number))
        second = asyncio.create_task(ledger.flush())
        await asyncio.sleep(0.02)
        book.gate.set()
        await asyncio.gather(first, second)
        await ledger.aclose()

    assert with_ledger(work).rows == numbers(FLUSH_ROWS + 50)


def test_a_row_is_journaled_and_counted_before_anything_is_awaited() -> None:
    counted: list[str] = []

    async def work(ledger: Ledger, book: Book) -> None:
        ledger.record(record("first"))
        assert journaled(ledger) == counted == ["first"]
        assert book.attempts == 0
        await ledger.aclose()

    with_ledger(work, count=lambda row: counted.append(row.request_id))

    assert counted == ["first"]


def test_a_batch_is_written_with_its_place_in_the_journal() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        for number in range(3):
            ledger.record(record(number))
        end = ledger._journal.end
        book.gate = asyncio.Event()
        flushing = asyncio.create_task(ledger.flush())
        await turns(lambda: book.attempts == 1)
        ledger.record(record("later"))
        book.gate.set()
        await flushing
        assert book.marks == [Mark("j", end), Mark("j", ledger._journal.end)]
        await ledger.aclose()

    assert with_ledger(work).batches == [numbers(3), ["later"]]


def test_rows_wait_in_the_journal_while_the_database_fails() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        for number in range(3):
            ledger.record(record(number))
        await ledger.aclose()
        assert journaled(ledger) == numbers(3)

    assert with_ledger(work).rows == []


def test_a_row_that_cannot_be_made_is_told_and_harms_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        bad = record("bad")
        bad.started_at = float("nan")
        ledger.record(bad)
        ledger.record(record("good"))
        await ledger.aclose()

    assert with_ledger(work).rows == ["good"]
    assert "the usage row of request bad could not be made" in caplog.text


def test_rows_beyond_the_queue_wait_in_the_journal_and_are_written_in_order(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 100_000)
    count = MOST_WAITING + 2 * FLUSH_ROWS + 5

    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        for number in range(count):
            ledger.record(record(number))
        assert len(ledger.waiting) == MOST_WAITING
        assert len(journaled(ledger)) == count
        await turns(lambda: book.attempts == 1 and ledger._flushing is None)
        book.fails = False
        ledger._begin()
        await turns(lambda: len(book.rows) == count)
        ledger.record(record(count))
        await ledger.aclose()

    book = with_ledger(work)

    assert book.rows == numbers(count + 1)
    assert [mark.position for mark in book.marks] == sorted(mark.position for mark in book.marks)
    assert "lost" not in caplog.text


def test_rows_that_wait_in_the_journal_alone_are_counted_for_their_key() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        for number in range(MOST_WAITING + FLUSH_ROWS + 1):
            ledger.record(used(number))

        def sums() -> tuple[int, int]:
            spent = [figures for _, _, figures in ledger.unwritten()]
            return sum(each.requests for each in spent), sum(each.input_tokens for each in spent)

        async with ledger.paused():
            assert sums() == (MOST_WAITING + FLUSH_ROWS + 1, 3 * (MOST_WAITING + FLUSH_ROWS + 1))
        book.fails = False
        while ledger.waiting:
            await ledger._write_some()
            left = MOST_WAITING + FLUSH_ROWS + 1 - len(book.rows)
            assert sums() == (left, 3 * left)

    with_ledger(work)


def test_rows_that_neither_memory_nor_disk_takes_are_lost_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)

    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def work(ledger: Ledger, book: Book) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            for number in range(5):
                ledger.record(record(number))
        await ledger.aclose()

    assert with_ledger(work).rows == numbers(3)
    assert caplog.text.count("neither queue nor journal takes usage rows; 1 are lost") == 1


@given(st.lists(st.sampled_from(["record", "refuse", "write"]), max_size=60))
def test_whatever_fails_each_row_is_written_once_also_after_a_kill(steps: list[str]) -> None:
    """``refuse`` is a row for which the disk is full, so that only memory may take it."""
    taken: set[str] = set()
    in_journal: set[str] = set()

    def check(ledger: Ledger, book: Book) -> None:
        mark = book.marks[-1].position if book.marks else 0
        recovered = journaled(ledger, after=mark)
        written = [row for row in book.rows if row in in_journal]
        assert sorted(written + recovered) == sorted(in_journal)

    async def work(ledger: Ledger, book: Book) -> None:
        write = os.write
        for number, step in enumerate(steps):
            if step == "write":
                await ledger._write_some()
            with pytest.MonkeyPatch.context() as patch:
                if step == "refuse":
                    patch.setattr(os, "write", lambda file, line: write(file, line[:9]))
                before = ledger._lost, ledger._journal.end
                if step != "write":
                    ledger.record(record(number))
                    taken.update([str(number)] if ledger._lost == before[0] else [])
                in_journal.update([str(number)] if ledger._journal.end > before[1] else [])
            check(ledger, book)
        await ledger.flush()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_WAITING", 4)
        patch.setattr(module, "FLUSH_ROWS", 3)
        patch.setattr(journal_module, "SEGMENT", 700)
        book = with_ledger(work)

    assert sorted(book.rows) == sorted(taken)


def test_closing_over_a_broken_database_says_what_was_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        book.fails = True
        ledger.record(record(0))
        await ledger.aclose()

    with caplog.at_level(logging.ERROR):
        with_ledger(work)

    assert "1 usage rows could not be written" in caplog.text


def test_every_row_is_shown_to_the_observer_once_it_is_written() -> None:
    seen: list[str] = []

    async def observe(record: UsageRecord) -> None:
        seen.append(record.request_id)

    async def work(ledger: Ledger, book: Book) -> None:
        for number in range(3):
            ledger.record(record(number))
        await ledger.aclose()
        assert seen == book.rows

    with_ledger(work, observe=observe)

    assert seen == numbers(3)


def test_a_row_whose_counts_cannot_be_does_not_hold_up_the_others() -> None:
    async def work(ledger: Ledger, book: Book) -> None:
        bad = record("bad")
        bad.target = target(provider("openai"), "gpt-4o")
        bad.usage = Usage(input_tokens=1, cached_tokens=9)
        ledger.record(bad)
        ledger.record(record("good"))
        await ledger.aclose()

    assert with_ledger(work).rows == ["bad", "good"]


def test_a_row_tells_everything_that_was_noted() -> None:
    given = record("r")
    given.begun, given.first_byte, given.over = 10.0, 10.25, 11.5
    given.model, given.stream, given.attempts = "ac/m", True, 2
    given.target = target(model=Model("m", price=Price(input=1, output=2)))
    given.connection_id, given.upstream_format = "a", "openai"
    given.combo_id, given.combo_name, given.dropped = "i", "c", ("top_k",)
    given.usage = Usage(input_tokens=10, output_tokens=5, cached_tokens=4, estimated=True)

    assert record_of(given, Prices(), Timestamps(UTC)) == UsageRecord(
        request_id="r",
        started_at="2027-01-15T08:00:00.000Z",
        finished_at="2027-01-15T08:00:01.500Z",
        provider="acme",
        model_asked="ac/m",
        model_sent="m",
        connection_id="a",
        endpoint="/v1/messages",
        client_format="claude",
        upstream_format="openai",
        stream=True,
        status="ok",
        http_status=200,
        input_tokens=10,
        output_tokens=5,
        cached_tokens=4,
        estimated=True,
        cost=20,
        ttft_ms=250,
        duration_ms=1500,
        combo_id="i",
        combo_name="c",
        attempts=2,
        dropped=("top_k",),
        day="2027-01-15",
    )


def test_a_request_that_reached_nobody_has_no_tokens_and_no_cost() -> None:
    row = record_of(record("r"), Prices(), Timestamps())

    assert (row.provider, row.cost, row.ttft_ms, row.input_tokens) == (None, None, None, 0)


COUNTS = st.integers(0, 10**9)


@given(st.builds(Usage, **dict.fromkeys(Usage.__struct_fields__[:5], COUNTS)))
def test_parts_are_never_more_than_their_whole(reported: Usage) -> None:
    finished = record("r")
    finished.usage = reported

    row = record_of(finished, Prices(), Timestamps())

    assert (row.input_tokens, row.output_tokens) == (reported.input_tokens, reported.output_tokens)
    assert 0 <= row.cached_tokens + row.cache_write_tokens <= row.input_tokens
    assert 0 <= row.reasoning_tokens <= row.output_tokens
    assert row.cached_tokens <= reported.cached_tokens
