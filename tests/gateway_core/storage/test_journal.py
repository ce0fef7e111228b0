"""Rows of a process that is gone are written once, and no file is left behind."""

import errno
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.storage import journal as module
from gateway_core.storage.database import Database
from gateway_core.storage.errors import StorageFull
from gateway_core.storage.journal import Journal, open_journals, recover, rows_after
from gateway_core.storage.stores.key_usage import KeyUsageStore
from gateway_core.storage.stores.usage import Mark, UsageRecord, UsageStore

pytestmark = pytest.mark.anyio


def row(number: int) -> UsageRecord:
    return UsageRecord(
        request_id=f"r-{number}",
        started_at="2031-05-06T07:08:09.000Z",
        finished_at="2031-05-06T07:08:10.000Z",
        model_asked="m\n\u2028\x00",
        endpoint="/v1/x",
        api_key_id="k",
        day="2031-05-06",
        input_tokens=number,
        cost=2,
        dropped=("top_k",),
    )


def rows(*numbers: int) -> list[UsageRecord]:
    return [row(number) for number in numbers]


def held(folder: Path, name: str = "a", after: int = 0) -> list[UsageRecord]:
    """What the files of a journal hold."""
    with open_journals(folder) as journals:
        return [each for each, _ in rows_after(journals.get(name, []), after)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def abandon(journal: Journal) -> None:
    """Let go of a journal as the kernel does when its process is killed."""
    if journal._file is not None:
        os.close(journal._file)
    os.close(journal._lock)


async def stored(database: Database) -> list[str]:
    found = await database.fetch("SELECT request_id FROM usage ORDER BY id")
    return [each["request_id"] for each in found]


def test_rows_are_read_as_they_were_appended(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "a")
    positions = [journal.append(each) for each in rows(1, 2, 3)]

    assert held(tmp_path) == rows(1, 2, 3)
    assert held(tmp_path, after=positions[0]) == rows(2, 3)
    assert held(tmp_path, after=positions[2]) == []
    journal.close()


def test_each_row_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: written.append(data) or write(fd, data))
    journal = Journal(tmp_path, "a")

    journal.append(row(1))
    journal.append(row(2))

    assert [each[-1:] for each in written] == [b"\n", b"\n"]
    journal.close()


async def test_a_killed_process_rows_are_written_at_the_next_start(
    tmp_path: Path, database: Database
) -> None:
    usage = UsageStore(database)
    journal = Journal(tmp_path, "a")
    positions = [journal.append(each) for each in rows(1, 2, 3)]
    await usage.insert_many(rows(1), Mark("a", positions[0]))
    abandon(journal)

    await recover(tmp_path, usage)
    await recover(tmp_path, usage)

    assert await stored(database) == ["r-1", "r-2", "r-3"]
    spent = await KeyUsageStore(database).spent("k", "2031-05-06")
    assert (spent.ever.requests, spent.ever.input_tokens) == (3, 6)
    assert files(tmp_path) == []
    assert await usage.marks() == {}


async def test_a_recovery_elsewhere_keeps_the_mark_of_a_journal(
    tmp_path: Path, database: Database
) -> None:
    usage = UsageStore(database)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    journal = Journal(here, "a")
    positions = [journal.append(each) for each in rows(1, 2)]
    await usage.insert_many(rows(1), Mark("a", positions[0]))

    await recover(there, usage)
    abandon(journal)
    await recover(here, usage)

    assert await stored(database) == ["r-1", "r-2"]
    assert await usage.marks() == {}


async def test_a_kill_during_recovery_adds_nothing_twice(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = UsageStore(database)
    journal = Journal(tmp_path, "a")
    for each in rows(1, 2, 3):
        journal.append(each)
    abandon(journal)
    with monkeypatch.context() as patch:
        patch.setattr(module, "AT_ONCE", 2)
        patch.setattr(module, "_remove", lambda folder, name: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await recover(tmp_path, usage)

    await recover(tmp_path, usage)

    assert await stored(database) == ["r-1", "r-2", "r-3"]


async def test_a_living_process_keeps_its_journal(tmp_path: Path, database: Database) -> None:
    journal = Journal(tmp_path, "a")
    journal.append(row(1))

    await recover(tmp_path, UsageStore(database))

    assert await stored(database) == []
    assert held(tmp_path) == rows(1)
    journal.close()


async def test_a_torn_last_row_is_left_out(tmp_path: Path, database: Database) -> None:
    journal = Journal(tmp_path, "a")
    journal.append(row(1))
    assert journal._file is not None
    os.write(journal._file, b'{"requestId":"torn","star')
    abandon(journal)

    await recover(tmp_path, UsageStore(database))

    assert await stored(database) == ["r-1"]


async def test_a_damaged_row_is_left_out_and_logged(
    tmp_path: Path, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path, "a")
    journal.append(row(1))
    assert journal._file is not None
    journal.end += os.write(journal._file, b"\x00\x00\x00\n")
    journal.append(row(2))
    abandon(journal)

    await recover(tmp_path, UsageStore(database))

    assert await stored(database) == ["r-1", "r-2"]
    assert "a damaged row of the usage journal is left out" in caplog.text


def test_files_stay_few_however_many_rows_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT", 2000)
    journal = Journal(tmp_path, "a")
    most = 0
    for number in range(100):
        journal.release(journal.append(row(number)))
        most = max(most, sum(path.stat().st_size for path in files(tmp_path)))

    assert most < 2 * 2000 + 1000
    journal.close()
    assert files(tmp_path) == []


async def test_a_closed_journal_keeps_rows_that_are_not_in_the_database(
    tmp_path: Path, database: Database
) -> None:
    journal = Journal(tmp_path, "a")
    position = journal.append(row(1))
    journal.release(position)
    journal.append(row(2))
    journal.close()

    await UsageStore(database).insert_many(rows(1), Mark("a", position))
    await recover(tmp_path, UsageStore(database))

    assert await stored(database) == ["r-1", "r-2"]


def test_a_full_disk_spoils_no_other_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path, "a")
    journal.append(row(1))
    write = os.write

    def takes_a_part(file: int, data: bytes) -> int:
        return write(file, data[:20])

    def takes_nothing(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = journal.end
    for full in (takes_a_part, takes_nothing):
        monkeypatch.setattr(os, "write", full)
        assert journal.append(row(2)) == before
    monkeypatch.setattr(os, "write", write)
    with caplog.at_level(logging.WARNING):
        after = journal.append(row(3))

    assert held(tmp_path) == rows(1, 3)
    assert held(tmp_path, after=before) == rows(3)
    full, again = caplog.messages
    assert "the disk takes no more data" in full
    assert "Writing the usage journal works again" in again
    journal.release(after)
    journal.close()
    assert files(tmp_path) == []


async def test_a_full_database_keeps_the_journal_for_another_start(
    tmp_path: Path, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(UsageStore):
        async def insert_many(self, *_: object) -> None:
            raise StorageFull

    journal = Journal(tmp_path, "a")
    journal.append(row(1))
    abandon(journal)

    await recover(tmp_path, Full(database))
    await recover(tmp_path, UsageStore(database))

    assert await stored(database) == ["r-1"]
    assert "stay in" in caplog.text


def test_files_of_the_journal_are_private(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "a")
    journal.append(row(1))

    assert {path.stat().st_mode & 0o777 for path in files(tmp_path)} == {0o600}
    journal.close()


@given(st.lists(st.booleans(), max_size=30), st.data())
def test_rows_behind_any_position_are_read_whatever_failed_before(
    tmp_path_factory: pytest.TempPathFactory, fails: list[bool], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal, write = Journal(folder, "a"), os.write
    kept = [(0, -1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SEGMENT", 1500)
        for number, is_failing in enumerate(fails):
            cut = data.draw(st.integers(1, 300)) if is_failing else 0
            patch.setattr(
                os,
                "write",
                lambda file, line, cut=cut: write(file, line[: max(0, len(line) - cut)]),
            )
            position = journal.append(row(number))
            if not is_failing:
                kept.append((position, number))
    position, last = data.draw(st.sampled_from(kept))

    found = held(folder, after=position)

    assert found == [row(number) for _, number in kept if number > last]
    journal.close()
