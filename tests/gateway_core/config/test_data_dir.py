import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parametrize_ids import parametrize_id

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import DataDirInUse, DataDirUnusable, SecretLost


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_directories_are_private_whatever_the_umask(root: Path) -> None:
    data_dir = DataDir(root)

    assert {mode(p) for p in (root, root / "db", data_dir.backups, root / "auth")} == {0o700}


@pytest.mark.usefixtures("open_umask")
def test_files_are_private_whatever_the_umask(root: Path) -> None:
    with DataDir(root) as data_dir:
        data_dir.machine_id("salt")
        data_dir.api_key_secret(from_environ({}))
        data_dir.master_key(mint=True)
        data_dir.cli_secret()
        data_dir.touch_database()
        data_dir.mark_started()

    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(files) == 7
    assert {mode(path) for path in files} == {0o600}


def test_permissions_are_repaired_on_the_next_use(root: Path) -> None:
    data_dir = DataDir(root)
    key = data_dir.master_key(mint=True)
    root.chmod(0o755)
    (root / "master-key").chmod(0o644)

    again = DataDir(root)

    assert (mode(root), mode(root / "master-key")) == (0o700, 0o600)
    assert again.master_key(mint=False) == key


def test_a_secret_file_that_was_opened_up_is_repaired_when_it_is_read(root: Path) -> None:
    data_dir = DataDir(root)
    data_dir.cli_secret()
    (root / "auth" / "cli-secret").chmod(0o666)

    data_dir.cli_secret()

    assert mode(root / "auth" / "cli-secret") == 0o600


def test_a_written_file_is_whole_and_leaves_nothing_beside_it(root: Path) -> None:
    data_dir = DataDir(root)

    data_dir.write("note", b"first")
    data_dir.write("note", b"second")

    assert data_dir.read("note") == b"second"
    assert not list(root.glob(".*"))


def test_a_file_is_on_disk_before_it_takes_its_place(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = DataDir(root)
    happened: list[str] = []
    fsync, replace = os.fsync, os.replace

    def spy_fsync(descriptor: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        happened.append("directory" if is_directory else "content")
        fsync(descriptor)

    def spy_replace(*args: Any, **kwargs: Any) -> None:
        happened.append("rename")
        replace(*args, **kwargs)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    data_dir.write("note", b"text")

    assert happened == ["content", "rename", "directory"]


def test_what_a_killed_writer_left_is_swept_away(root: Path) -> None:
    DataDir(root)
    leftover = root / ".master-key.00.tmp"
    leftover.write_text("half a key")

    with DataDir(root):
        assert not leftover.exists()


def test_a_path_that_is_a_file_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(DataDirUnusable, match=r"cannot be used: There is a file\. Set DATA_DIR to"):
        DataDir(tmp_path / "file")


def test_a_file_that_cannot_be_read_is_told_with_advice(root: Path) -> None:
    data_dir = DataDir(root)
    (root / "machine-id").mkdir()

    with pytest.raises(DataDirUnusable, match=r"See that the gateway may read and write it\.$"):
        data_dir.read("machine-id")


def test_a_second_gateway_is_kept_out(root: Path) -> None:
    with DataDir(root):
        second = DataDir(root)
        with pytest.raises(DataDirInUse) as caught:
            second.acquire()

    assert str(caught.value) == (
        f"{root} is in use by another gateway (process {os.getpid()}). "
        "Stop it, or set DATA_DIR to another directory."
    )


def test_acquiring_twice_is_refused(root: Path) -> None:
    with DataDir(root) as data_dir, pytest.raises(DataDirInUse):
        data_dir.acquire()


def test_another_process_is_kept_out_until_the_lock_is_released(root: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from gateway_core.config.data_dir import DataDir\n"
        "from gateway_core.config.errors import DataDirInUse\n"
        "try: DataDir(Path(sys.argv[1])).acquire()\n"
        "except DataDirInUse: sys.exit(1)\n"
    )
    command = [sys.executable, "-c", script, str(root)]

    with DataDir(root):
        while_held = subprocess.run(command, check=False).returncode
    afterwards = subprocess.run(command, check=False).returncode

    assert (while_held, afterwards) == (1, 0)


def test_several_directories_are_open_in_one_process(tmp_path: Path) -> None:
    with DataDir(tmp_path / "one"), DataDir(tmp_path / "two"):
        pass

    with DataDir(tmp_path / "one"):
        pass


def test_closing_twice_does_nothing(root: Path) -> None:
    data_dir = DataDir(root)
    data_dir.acquire()

    data_dir.close()
    data_dir.close()

    with DataDir(root):
        pass


def test_the_machine_id_is_a_salted_hash_of_the_systems_own(root: Path) -> None:
    data_dir = DataDir(root, system_id=lambda: "raw-id")

    expected = hashlib.sha256(b"raw-idsome-salt").hexdigest()[:16]
    assert data_dir.machine_id("some-salt") == expected
    assert (root / "machine-id").read_text() == "raw-id"


def test_the_machine_id_stays_when_the_systems_own_changes(root: Path) -> None:
    first = DataDir(root, system_id=lambda: "one").machine_id("salt")
    second = DataDir(root, system_id=lambda: "two").machine_id("salt")

    assert first == second


def test_a_system_without_an_id_gets_a_random_one(root: Path, tmp_path: Path) -> None:
    here = DataDir(root, system_id=lambda: None).raw_machine_id()
    there = DataDir(tmp_path / "other", system_id=lambda: None).raw_machine_id()

    assert here != there
    assert len(here) == 36


def test_the_environment_names_the_api_key_secret(root: Path) -> None:
    data_dir = DataDir(root)

    assert data_dir.api_key_secret(from_environ({"API_KEY_SECRET": "mine"})) == "mine"
    assert not (root / "api-key-secret").exists()


def test_the_api_key_secret_is_made_once(root: Path) -> None:
    environment = from_environ({})

    first = DataDir(root).api_key_secret(environment)
    second = DataDir(root).api_key_secret(environment)

    assert first == second
    assert len(bytes.fromhex(first)) == 32


def test_an_empty_secret_file_is_not_made_anew(root: Path) -> None:
    data_dir = DataDir(root)
    (root / "api-key-secret").write_text("\n")

    with pytest.raises(SecretLost, match="api-key-secret is damaged"):
        data_dir.api_key_secret(from_environ({}))

    assert (root / "api-key-secret").read_text() == "\n"


def test_a_master_key_is_minted_only_when_told_so(root: Path) -> None:
    data_dir = DataDir(root)

    with pytest.raises(SecretLost, match=r"master-key is missing"):
        data_dir.master_key(mint=False)
    minted = data_dir.master_key(mint=True)

    assert len(minted) == 32
    assert data_dir.master_key(mint=False) == minted


@pytest.mark.parametrize("content", [b"", b"zz", b"00" * 31, b"\xff" * 32], ids=parametrize_id)
def test_a_damaged_master_key_is_never_replaced(root: Path, content: bytes) -> None:
    data_dir = DataDir(root)
    (root / "master-key").write_bytes(content)

    with pytest.raises(SecretLost, match="master-key is damaged"):
        data_dir.master_key(mint=True)

    assert (root / "master-key").read_bytes() == content


def test_randomness_is_injected(root: Path) -> None:
    data_dir = DataDir(root, random=lambda size: b"\x07" * size)

    assert data_dir.master_key(mint=True) == b"\x07" * 32


def test_a_start_is_remembered(root: Path) -> None:
    assert not DataDir(root).was_started

    DataDir(root).mark_started()

    assert DataDir(root).was_started


def test_secrets_are_not_in_the_repr(root: Path) -> None:
    data_dir = DataDir(root)
    key = data_dir.master_key(mint=True)

    assert key.hex() not in repr(data_dir)
