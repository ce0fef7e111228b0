"""The files that Python reads when it starts, and whose they are."""

import hashlib
import site
from pathlib import Path

from drop_ins import files_of, unpack

from gateway_core.plugins.startup_files import changes, owners, startup_files


def mine(place: Path) -> dict[str, str]:
    """Those of one place."""
    found = startup_files(place).items()
    return {file: digest for file, digest in found if file.startswith(str(place))}


def test_files_of_the_installation_are_found() -> None:
    found = {Path(file).name for file in startup_files()}

    there = {file.name for place in site.getsitepackages() for file in Path(place).glob("*.pth")}
    assert found == there
    assert "model_gateway_provider_groq.pth" in found


def test_files_of_a_further_place_are_hashed_and_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "one.pth").write_text("import os")
    (tmp_path / "one.py").write_text("import os")
    (tmp_path / "folder.pth").mkdir()
    (tmp_path / "lost.pth").symlink_to(tmp_path / "nowhere")

    assert mine(tmp_path) == {str(tmp_path / "one.pth"): hashlib.sha256(b"import os").hexdigest()}


def test_a_place_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert startup_files(tmp_path / "nowhere") == startup_files()


def test_a_file_belongs_to_the_package_that_lists_it(tmp_path: Path) -> None:
    files = files_of("Some.Pack", "")
    record = next(path for path in files if path.endswith("RECORD"))
    files[record] += "own.pth,,\n"
    unpack(tmp_path, {**files, "own.pth": "x", "stray.pth": "x"})

    found = owners([str(tmp_path / "own.pth"), str(tmp_path / "stray.pth")])

    assert found == {str(tmp_path / "own.pth"): "some-pack"}


def test_a_damaged_package_owns_nothing_and_hides_no_owner(tmp_path: Path) -> None:
    files = files_of("sound", "")
    record = next(path for path in files if path.endswith("RECORD"))
    files[record] += "own.pth,,\n"
    unpack(tmp_path, {**files, "own.pth": "x"})
    (tmp_path / "bad-1.0.dist-info").mkdir()
    (tmp_path / "bad-1.0.dist-info" / "RECORD").write_bytes(b"\xff\xfe,,\n")

    assert owners([str(tmp_path / "own.pth")]) == {str(tmp_path / "own.pth"): "sound"}


def test_changes_are_told_by_name() -> None:
    before = {"same": "1", "other": "1", "lost": "1"}
    now = {"same": "1", "other": "2", "more": "1"}

    assert changes(before, now) == {"lost": "gone", "more": "new", "other": "changed"}


def test_modules_that_run_at_every_start_are_among_them(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os")
    (tmp_path / "usercustomize").mkdir()
    (tmp_path / "usercustomize" / "__init__.py").write_text("import os")
    (tmp_path / "sitecustomize_too.py").write_text("import os")

    found = {Path(file).relative_to(tmp_path).as_posix() for file in mine(tmp_path)}

    assert found == {"sitecustomize.py", "usercustomize/__init__.py"}
