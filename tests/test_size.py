"""No module is longer than a reader keeps in mind."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 600
"""Lines."""
ELSEWHERE = {"__pycache__", "dist"}


def modules() -> Iterator[Path]:
    """Ours: what lies in no hidden folder, and was not built."""
    for place in ROOT.iterdir():
        if place.is_dir() and not place.name.startswith(".") and place.name not in ELSEWHERE:
            yield from (path for path in place.rglob("*.py") if not _is_made(path))


def _is_made(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part.startswith(".") or part in ELSEWHERE for part in parts)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_module_is_longer_than_600_lines() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in modules()}

    assert len(sizes) > 900
    # A table of cases may be as long as its cases.
    own = {name: size for name, size in sizes.items() if not name.startswith("tests/")}
    assert {name: size for name, size in own.items() if size > LONGEST} == {}
