"""The documentation says what the code does: generated pages are fresh, links lead somewhere."""

import importlib.util
import re
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
ROUTE = re.compile(r"^\| ([A-Z, ]+) \| (`/api/[^|]+) \|", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")


def reference() -> object:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name",
    [
        *("environment.md", "settings.md", "errors.md", "hooks.md", "formats-and-vendors.md"),
        *("access.md", "management.md", "contracts.md"),
    ],
)
def test_a_generated_page_is_what_the_code_declares(name: str) -> None:
    wanted = reference().PAGES[name]()  # type: ignore[attr-defined]

    assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == wanted, (
        "run: python tools/reference.py"
    )


def test_every_field_a_plugin_author_sees_says_what_it_means() -> None:
    untold = reference().contracts_page.untold()  # type: ignore[attr-defined]

    assert untold == []


def test_the_page_on_managing_names_only_routes_there_are() -> None:
    text = (ROOT / "docs" / "managing.md").read_text(encoding="utf-8")
    named = {
        (method, path)
        for methods, paths in ROUTE.findall(text)
        for method, path in product(methods.split(", "), re.findall(r"`([^`]+)`", paths))
    }
    operations = reference().operations()  # type: ignore[attr-defined]

    assert named <= {(operation.method, operation.path) for operation in operations}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text())}

    missing = {page for page in (ROOT / "docs").rglob("*.md") if page != index} - linked

    assert not missing
