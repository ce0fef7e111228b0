"""The folder of plugins, and what is said about a plugin's files."""

import os
import stat
import sys
from pathlib import Path

import pytest
from drop_ins import folder_in

from gateway_core.plugins import Found, Origin, PluginFolder
from gateway_core.plugins.files import (
    FileDamaged,
    digest_of,
    docstring_of,
    fault_of,
    hashes_of,
    remove_below,
)


def found(module: str, path: Path | None = None, origin: Origin = Origin.INSTALLED) -> Found:
    return Found(name="it", module=module, load=object, path=path, origin=origin)


def package(place: Path, name: str = "pack") -> Path:
    home = place / name
    (home / "inner" / "__pycache__").mkdir(parents=True)
    (home / "__init__.py").write_text("raise AssertionError('imported')")
    (home / "inner" / "data.bin").write_bytes(b"\0")
    (home / "inner" / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"old")
    return home


def test_a_folder_that_is_not_there_has_nothing_in_it(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)

    assert folder.dropins() == []
    assert folder.read_json("lock.json") is None
    assert not folder.has("lock.json")
    assert not folder.path.exists()


def test_only_python_files_with_a_plain_name_are_plugins(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, b="", a="", _hidden="")
    for name in (".c.py", "notes.txt", "disabled.json"):
        (folder.path / name).write_text("")

    assert [file.name for file in folder.dropins()] == ["a.py", "b.py"]


def test_what_is_written_is_private_and_read_again(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)

    folder.write_json("disabled.json", {"disabled": ["acme"]})

    assert folder.read_json("disabled.json") == {"disabled": ["acme"]}
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder.path / "disabled.json").stat().st_mode) == 0o600
    assert os.listdir(folder.path) == ["disabled.json"]


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)
    (folder.path / "lock.json").mkdir(parents=True)

    with pytest.raises(OSError, match="lock"):
        folder.write_json("lock.json", {})

    assert os.listdir(folder.path) == ["lock.json"]


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b'"\xff"', b""])
def test_a_damaged_file_is_told_by_its_path(tmp_path: Path, content: bytes) -> None:
    folder = folder_in(tmp_path)
    (folder.path / "lock.json").write_bytes(content)

    with pytest.raises(FileDamaged, match=r"lock\.json"):
        folder.read_json("lock.json")


def test_a_package_is_hashed_without_being_imported_or_its_compiled_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    hashes = hashes_of(found("pack.inner.deep"))

    assert set(hashes) == {"pack/__init__.py", "pack/inner/data.bin"}
    assert "pack" not in sys.modules


def test_a_package_of_the_folder_is_found_before_imports_can_see_it(tmp_path: Path) -> None:
    package(tmp_path, "pack_in_folder")

    hashes = hashes_of(found("pack_in_folder", tmp_path, Origin.FOLDER))

    assert "pack_in_folder/__init__.py" in hashes


def test_a_namespace_is_looked_into_for_the_package_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path / "shared_space", "mine")
    package(tmp_path / "shared_space", "theirs")
    monkeypatch.syspath_prepend(str(tmp_path))

    hashes = hashes_of(found("shared_space.mine"))

    assert set(hashes) == {"mine/__init__.py", "mine/inner/data.bin"}


def test_a_drop_in_is_its_one_file(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme="x = 1", other="x = 2")

    assert list(hashes_of(found("acme", folder.path / "acme.py", Origin.FILE))) == ["acme.py"]


def test_a_digest_follows_names_and_contents_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = package(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    first = digest_of(found("pack"))

    os.utime(home / "__init__.py", (1, 1))
    (home / "inner" / "__pycache__" / "y.pyc").write_bytes(b"new")
    touched = digest_of(found("pack"))
    (home / "inner" / "data.bin").rename(home / "inner" / "other.bin")
    renamed = digest_of(found("pack"))
    (home / "__init__.py").write_text("")

    assert touched == first
    assert len({first, renamed, digest_of(found("pack"))}) == 3


def test_a_digest_follows_what_a_link_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, behind = package(tmp_path), tmp_path / "behind"
    behind.mkdir()
    (home / "linked").symlink_to(behind)
    (home / "round").symlink_to(home)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = hashes_of(found("pack"))

    (behind / "__init__.py").write_text("")

    assert hashes_of(found("pack")).keys() - before.keys() == {"pack/linked/__init__.py"}


@pytest.mark.parametrize("module", ["no_such_module_anywhere", "sys", "SimpleNamespace"])
def test_what_has_no_files_has_an_empty_digest(module: str) -> None:
    assert digest_of(found(module)) == ""


def test_code_that_others_may_write_is_at_fault(tmp_path: Path) -> None:
    file = tmp_path / "acme.py"
    file.write_text("")
    assert fault_of(file) is None

    file.chmod(0o646)

    assert "everybody may write" in (fault_of(file) or "")
    assert "cannot be read" in (fault_of(tmp_path / "gone.py") or "")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to give away"
)
def test_code_of_another_user_is_at_fault(tmp_path: Path) -> None:
    file = tmp_path / "acme.py"
    file.write_text("")

    os.chown(file, 12345, -1)

    assert "belongs to another user (12345)" in (fault_of(file) or "")


def test_a_file_that_is_nested_without_end_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "disabled.json").write_text("[" * 100_000)

    with pytest.raises(FileDamaged):
        PluginFolder(tmp_path).read_json("disabled.json")


@pytest.mark.parametrize(
    ("source", "line"),
    [('"""Acme.\n\nMore."""', "Acme."), ("x = 1", None), ("def (", None), ('""" """', None)],
)
def test_the_first_line_of_a_docstring_is_read_without_running(
    tmp_path: Path, source: str, line: str | None
) -> None:
    (tmp_path / "acme.py").write_text(source)

    assert docstring_of(str(tmp_path / "acme.py")) == line


def test_only_what_stands_below_is_removed(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside.py"
    kept = package(home, "kept")
    gone = package(home, "gone")
    outside.write_text("")
    (home / "link").symlink_to(tmp_path)

    count = remove_below(
        home,
        [
            *(gone / "__init__.py", gone / "inner" / "data.bin", gone / "not-there"),
            *(home / ".." / "outside.py", home / "link" / "outside.py", outside),
        ],
    )

    assert count == 3
    assert outside.exists()
    assert not gone.exists()
    assert (kept / "inner" / "data.bin").exists()
