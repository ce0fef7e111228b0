"""The page on security names tests that are there, and every test of security is named."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (S\d\d|models|words) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
LINK = re.compile(r"\[([\w./]+)\]\(\.\./([\w./]+)\)")


def rows() -> dict[str, list[tuple[str, str]]]:
    """The files of each row, as they are called and where they are."""
    return {name: LINK.findall(files) for name, files in ROW.findall(PAGE)}


def test_every_row_names_tests_that_are_there() -> None:
    assert len(rows()) > 35
    for name, files in rows().items():
        assert files, name
        for shown, path in files:
            assert (ROOT / path).is_file(), f"{name} names {path}"
            assert path.endswith(f"/{shown}")
            assert re.search(r"^(async )?def test_", (ROOT / path).read_text(), re.MULTILINE)


def test_no_row_stands_there_twice() -> None:
    names = [name for name, _ in ROW.findall(PAGE)]

    assert names == sorted(set(names))


def test_every_file_of_security_tests_is_named() -> None:
    named = {path for files in rows().values() for _, path in files}
    there = {
        str(path.relative_to(ROOT)) for path in ROOT.glob("tests/interface/test_security_*.py")
    }

    assert there <= named
