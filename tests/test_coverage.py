"""The coverage page is what the code does, and nothing is lost in silence."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "tools" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_lost_in_silence(coverage: ModuleType) -> None:
    page = coverage.page(coverage.formats())

    lost = [line for line in page.splitlines() if coverage.SILENT in line]

    assert not lost


def test_the_page_is_fresh(coverage: ModuleType) -> None:
    written = coverage.PAGE.read_text(encoding="utf-8")

    assert written == coverage.page(coverage.formats()), "run: python tools/coverage.py"
