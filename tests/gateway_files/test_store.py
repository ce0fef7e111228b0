"""Files on disk: whole or not at all, counted, and their owner's only."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from msgspec import json, structs

from gateway_files.errors import FileTooLarge, QuotaExceeded
from gateway_files.record import FileRecord
from gateway_files.store import FileStore
from gateway_files.unfinished import FileLimits

WIDE = FileLimits(largest=1000, quota=10_000, most=100)
DAY = 24 * 3600


class Clock:
    """Goes on by a second whenever it is asked."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(tmp_path: Path, clock: Clock) -> Callable[..., FileStore]:
    def make(limits: FileLimits = WIDE) -> FileStore:
        return FileStore(tmp_path, lambda: limits, clock)

    return make


def write(store: FileStore, content: bytes = b"{}", owner: str = "a", **more: str) -> FileRecord:
    writer = store.create(owner, more.get("filename", "rows.jsonl"), more.get("purpose", "batch"))
    writer.write(content)
    return writer.finish()


def listed(store: FileStore, owner: str = "a", **more: object) -> list[str]:
    limit = more.pop("limit", 1000)
    return [r.id for r in store.page(owner, limit=limit, **more).records]  # type: ignore[arg-type]


def leftovers(folder: Path) -> list[str]:
    return [entry.name for entry in (folder / "files" / ".parts").iterdir()]


def test_a_file_is_found_as_it_was_written(make: Callable[..., FileStore]) -> None:
    store = make()

    record = write(store, b"one\ntwo\n", filename="r.jsonl", purpose="fine-tune")

    assert store.find("a", record.id) == record
    assert store.path(record).read_bytes() == b"one\ntwo\n"
    assert (record.bytes, record.filename, record.purpose) == (8, "r.jsonl", "fine-tune")
    assert make().find("a", record.id) == record


def test_nobody_sees_a_file_before_it_is_finished(
    make: Callable[..., FileStore], tmp_path: Path
) -> None:
    store = make()
    writer = store.create("a", "r", "batch")
    writer.write(b"half")

    assert listed(store) == []
    assert len(leftovers(tmp_path)) == 1
    writer.abandon()
    assert listed(store) == []
    assert leftovers(tmp_path) == []


def test_an_abandoned_writer_writes_nothing_more(make: Callable[..., FileStore]) -> None:
    writer = make().create("a", "r", "batch")
    writer.abandon()
    writer.abandon()

    with pytest.raises(ValueError, match="abandoned"):
        writer.write(b"late")
    with pytest.raises(ValueError, match="abandoned"):
        writer.finish()


def test_another_owner_finds_and_deletes_nothing(make: Callable[..., FileStore]) -> None:
    store = make()
    record = write(store)

    assert store.find("b", record.id) is None
    assert store.delete("b", record.id) is False
    assert listed(store, "b") == []
    assert store.find("a", record.id) == record


def test_a_deleted_file_is_gone_from_the_disk(
    make: Callable[..., FileStore], tmp_path: Path
) -> None:
    store = make()
    record = write(store)

    assert store.delete("a", record.id) is True
    assert store.delete("a", record.id) is False
    assert store.find("a", record.id) is None
    assert not (tmp_path / "files" / record.id).exists()
    assert leftovers(tmp_path) == []


def test_an_open_content_is_readable_after_its_file_is_deleted(
    make: Callable[..., FileStore],
) -> None:
    store = make()
    record = write(store, b"content")
    with store.path(record).open("rb") as content:
        store.delete("a", record.id)

        assert content.read() == b"content"


def test_files_and_folders_are_private(make: Callable[..., FileStore], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        record = write(make())
    finally:
        os.umask(before)

    folder = tmp_path / "files"
    modes = {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }
    assert modes == {
        ".": 0o700,
        ".lock": 0o600,
        ".changes": 0o600,
        ".parts": 0o700,
        record.id: 0o700,
        f"{record.id}/content": 0o600,
        f"{record.id}/meta.json": 0o600,
    }


@pytest.mark.parametrize("id", ["", "..", ".parts", "../files", "file_x", "x/../y"])
def test_what_is_no_id_is_no_file(make: Callable[..., FileStore], id: str) -> None:
    store = make()

    assert store.find("a", id) is None
    assert store.delete("a", id) is False


def test_a_file_has_a_largest_size(make: Callable[..., FileStore], tmp_path: Path) -> None:
    store = make(FileLimits(largest=4, quota=100, most=10))
    writer = store.create("a", "r", "batch")
    writer.write(b"1234")

    with pytest.raises(FileTooLarge):
        writer.write(b"5")

    writer.abandon()
    assert leftovers(tmp_path) == []
    assert write(store, b"1234").bytes == 4


def test_the_quota_counts_what_is_stored_and_what_is_being_written(
    make: Callable[..., FileStore],
) -> None:
    store = make(FileLimits(largest=100, quota=10, most=10))
    write(store, b"123")
    first, second = store.create("a", "r", "batch"), store.create("a", "r", "batch")
    first.write(b"1234")

    with pytest.raises(QuotaExceeded):
        second.write(b"1234")
    first.abandon()
    second.write(b"1234567")
    with pytest.raises(QuotaExceeded):
        second.write(b"8")

    assert write(store, b"1234567", owner="b").bytes == 7
    second.abandon()


def test_a_quota_holds_across_processes(make: Callable[..., FileStore]) -> None:
    limits = FileLimits(largest=100, quota=10, most=10)
    one, other = make(limits), make(limits)
    writers = [store.create("a", "r", "batch") for store in (one, other)]
    for writer in writers:
        writer.write(b"1234567")

    writers[0].finish()
    with pytest.raises(QuotaExceeded):
        writers[1].finish()

    assert len(listed(one)) == len(listed(other)) == 1


def test_an_owner_has_at_most_so_many_files(make: Callable[..., FileStore]) -> None:
    store = make(FileLimits(largest=10, quota=100, most=2))
    writers = [store.create("a", "r", "batch") for _ in range(3)]
    for writer in writers[:2]:
        writer.finish()

    with pytest.raises(QuotaExceeded, match="2 files"):
        writers[2].finish()
    with pytest.raises(QuotaExceeded, match="2 files"):
        store.create("a", "r", "batch")
    store.delete("a", listed(store)[0])
    assert write(store, b"").bytes == 0


def test_a_page_follows_a_file_that_is_deleted_meanwhile(make: Callable[..., FileStore]) -> None:
    store = make()
    ids = [write(store).id for _ in range(5)][::-1]

    first = listed(store, limit=2)
    store.delete("a", first[-1])

    assert first == ids[:2]
    assert listed(store, after=first[-1], limit=2) == ids[2:4]
    assert listed(store, after=ids[3]) == ids[4:]
    assert listed(store, before=ids[3], limit=2) == [ids[0], ids[2]]
    assert listed(store, before=ids[3], limit=1) == [ids[2]]
    assert listed(store, is_ascending=True, after=ids[3], limit=1) == [ids[2]]


def test_a_page_says_whether_there_is_more(make: Callable[..., FileStore]) -> None:
    store = make()
    for purpose in ("batch", "batch", "vision"):
        write(store, purpose=purpose)

    assert store.page("a", limit=2).has_more
    assert not store.page("a", limit=3).has_more
    assert not store.page("a", limit=2, purpose="batch").has_more
    assert [r.purpose for r in store.page("a", limit=9, purpose="vision").records] == ["vision"]


def test_a_file_expires(make: Callable[..., FileStore], clock: Clock, tmp_path: Path) -> None:
    store = make()
    writer = store.create("a", "r", "batch")
    writer.describe("r", "batch", DAY)
    record = writer.finish()
    kept = write(store)

    assert record.expires_at == record.created_at + DAY
    assert len(listed(store)) == 2
    clock.now += DAY
    assert store.find("a", record.id) is None
    assert store.delete("a", record.id) is False
    assert listed(store) == [kept.id]
    store.remove_expired()
    assert not (tmp_path / "files" / record.id).exists()
    assert store.find("a", kept.id) == kept


def test_a_store_sees_what_another_process_does(
    make: Callable[..., FileStore], tmp_path: Path
) -> None:
    one, other = make(), make()

    for _ in range(20):
        record = write(one)
        assert listed(other) == listed(one)
        write(other)
        assert listed(one) == listed(other)
        other.delete("a", record.id)
        assert listed(one) == listed(other)
    # An operator removes the files of a key that is gone; within the tick of the file system's
    # clock in which the gateway changed something itself, nothing would show it.
    probe = tmp_path / "probe"
    probe.touch()
    while probe.stat().st_mtime_ns <= (tmp_path / "files").stat().st_mtime_ns:
        probe.touch()
    for id in listed(one):
        shutil.rmtree(tmp_path / "files" / id)
    assert listed(one) == listed(other) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"id": "x"}', b"\xff"])
def test_a_damaged_record_is_left_out(
    make: Callable[..., FileStore],
    tmp_path: Path,
    text: bytes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = make()
    good, bad = write(store), write(store)
    (tmp_path / "files" / bad.id / "meta.json").write_bytes(text)

    assert store.find("a", bad.id) is None
    assert listed(make()) == [good.id]
    assert bad.id in caplog.text


def test_a_disk_that_is_full_leaves_nothing_behind(
    make: Callable[..., FileStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    store = make()
    writer = store.create("a", "r", "batch")
    writer.write(b"12")
    monkeypatch.setattr(os, "fsync", refuse)

    with pytest.raises(OSError, match="No space"):
        writer.finish()

    monkeypatch.undo()
    assert leftovers(tmp_path) == []
    assert listed(store) == []
    assert write(store).bytes == 2


WRITE_HALF = """
import sys
from pathlib import Path
from gateway_files.store import FileStore
from gateway_files.unfinished import FileLimits
limits = FileLimits(largest=1000, quota=1000, most=10)
writer = FileStore(Path(sys.argv[1]), lambda: limits, lambda: 1.7e9).create("a", "r", "batch")
writer.write(b"half")
print("written", flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_leaves_is_removed_and_nothing_else(
    make: Callable[..., FileStore], tmp_path: Path
) -> None:
    store = make()
    kept, mine = write(store), store.create("a", "r", "batch")
    (tmp_path / "files" / ".parts" / "empty").mkdir()
    (tmp_path / "files" / ".parts" / "deleted").mkdir()
    (tmp_path / "files" / ".parts" / "deleted" / "content").write_bytes(b"old")
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_HALF, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"written\n"
        store.clean()
        with_both = leftovers(tmp_path)
        other.kill()

    store.clean()

    assert len(with_both) == 2
    assert len(leftovers(tmp_path)) == 1
    mine.write(b"whole")
    assert {kept.id, mine.finish().id} == set(listed(store))


def test_thousands_of_files_cost_no_look_at_each_of_them(
    make: Callable[..., FileStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = write(make())
    for number in range(5000):
        other = structs.replace(record, id=f"file_{number:024x}")
        folder = tmp_path / "files" / other.id
        folder.mkdir()
        (folder / "meta.json").write_bytes(json.encode(other))
    store = make(FileLimits(largest=1000, quota=100_000, most=10_000))
    assert len(listed(store, limit=10_000)) == 5001
    looked: list[object] = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(path) or scan(path))

    for _ in range(5):
        store.delete("a", write(store).id)
        listed(store, limit=10)

    assert [path for path in looked if path == tmp_path / "files"] == []
    assert len(listed(make(), limit=10_000)) == 5001


def test_threads_write_at_once(make: Callable[..., FileStore], tmp_path: Path) -> None:
    store = make(FileLimits(largest=1000, quota=100_000, most=1000))

    def work(owner: str) -> None:
        for _ in range(10):
            write(store, b"x" * 10, owner)
        for id in listed(store, owner)[::2]:
            store.delete(owner, id)

    threads = [threading.Thread(target=work, args=(f"owner{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for number in range(4):
        assert len(listed(store, f"owner{number}")) == 5
        assert listed(make(), f"owner{number}") == listed(store, f"owner{number}")
    assert leftovers(tmp_path) == []


class Owners(RuleBasedStateMachine):
    """Whatever owners do, at two processes, each has what it wrote and has not deleted."""

    files = Bundle("files")

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        limits = FileLimits(largest=50, quota=200, most=6)
        self.clock = Clock()
        self.stores = [
            FileStore(Path(self.folder.name), lambda: limits, self.clock) for _ in range(2)
        ]
        self.contents: dict[str, dict[str, bytes]] = {"a": {}, "b": {}}

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(
        target=files,
        store=st.integers(0, 1),
        owner=st.sampled_from("ab"),
        pieces=st.lists(st.binary(max_size=30), max_size=3),
    )
    def write(self, store: int, owner: str, pieces: list[bytes]) -> tuple[str, str]:
        own, content = self.contents[owner], b"".join(pieces)
        used = sum(map(len, own.values()))
        try:
            writer = self.stores[store].create(owner, "r", "batch")
        except QuotaExceeded:
            assert len(own) == 6
            return owner, "file_" + "0" * 24
        try:
            for piece in pieces:
                writer.write(piece)
            record = writer.finish()
        except FileTooLarge:
            assert len(content) > 50
        except QuotaExceeded:
            assert used + len(content) > 200
        else:
            own[record.id] = content
            return owner, record.id
        finally:
            writer.abandon()
        return owner, "file_" + "0" * 24

    @rule(store=st.integers(0, 1), owner=st.sampled_from("ab"), file=consumes(files))
    def delete(self, store: int, owner: str, file: tuple[str, str]) -> None:
        is_there = file[1] in self.contents[owner]

        assert self.stores[store].delete(owner, file[1]) is is_there
        self.contents[owner].pop(file[1], None)

    @rule(store=st.integers(0, 1))
    def restart(self, store: int) -> None:
        limits = FileLimits(largest=50, quota=200, most=6)
        self.stores[store] = FileStore(Path(self.folder.name), lambda: limits, self.clock)
        self.stores[store].clean()

    @invariant()
    def each_has_its_own(self) -> None:
        for store in self.stores:
            for owner, own in self.contents.items():
                page = store.page(owner, limit=100)
                assert [r.id for r in page.records] == sorted(own, reverse=True)
                for record in page.records:
                    assert store.path(record).read_bytes() == own[record.id]
                    assert record.bytes == len(own[record.id])


TestOwners = Owners.TestCase
