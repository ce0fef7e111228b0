"""The plugin lock: what it holds, and when it counts."""

import hashlib
import os
from pathlib import Path

import pytest
from drop_ins import folder_in, vendor

from gateway_core.plugins import Found, Origin, PluginFolder
from gateway_core.plugins.files import FileDamaged
from gateway_core.plugins.lock import FILE, is_on, kept, taken
from gateway_core.plugins.sources import find


def found(folder: PluginFolder, **given: object) -> list[Found]:
    return find(lambda name, problem: None, folder=folder, extra=given)


def test_a_lock_holds_every_plugin_by_version_and_hash(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))

    lock = taken(found(folder), folder)

    entries = {entry.name: entry for entry in lock.plugins}
    source = vendor("acme").encode()
    assert entries["acme"].origin is Origin.FILE
    assert entries["acme"].files == {"acme.py": hashlib.sha256(source).hexdigest()}
    assert entries["bedrock"].distribution == "model-gateway-provider-bedrock"
    assert entries["bedrock"].version
    assert "gateway_provider_bedrock/__init__.py" in entries["bedrock"].files


def test_a_plugin_that_is_switched_off_is_in_the_lock(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    folder.write_json("disabled.json", {"disabled": ["acme"]})

    assert "acme" in {entry.name for entry in taken(found(folder), folder).plugins}


def test_what_a_program_hands_over_is_not_in_the_lock(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    lock = taken(found(folder, handed=object()), folder)

    assert "handed" not in {entry.name for entry in lock.plugins}


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    lock = taken(found(folder), folder)

    folder.write_json(FILE, lock)

    assert kept(folder) == lock


def test_a_lock_counts_while_its_file_is_there(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    assert not is_on(folder)
    folder.write_json(FILE, {})
    assert is_on(folder)
    folder.remove(FILE)
    assert not is_on(folder)


def test_a_lock_that_points_nowhere_is_on(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    os.symlink(tmp_path / "nowhere", folder.path / FILE)

    assert is_on(folder)
    with pytest.raises(FileDamaged):
        kept(folder)


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "null", "[]", "{}", "\xff", "[" * 100_000),
        '{"version": 2, "plugins": [], "startupFiles": {}}',
        '{"version": 1, "plugins": [{"name": "x"}], "startupFiles": {}}',
        '{"version": 1, "plugins": []}',
    ],
    ids=[
        *("empty", "cut", "null", "list", "object", "binary", "deep"),
        *("other version", "half an entry", "no startup files"),
    ],
)
def test_a_damaged_lock_says_so(tmp_path: Path, content: str) -> None:
    folder = folder_in(tmp_path)
    (folder.path / FILE).write_bytes(content.encode("latin-1"))

    with pytest.raises(FileDamaged, match=r"lock\.json cannot be read"):
        kept(folder)
