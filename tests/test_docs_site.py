"""The documentation as a site: every page is there, and nothing comes from another host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOADED = re.compile(r"<(?:link|script|img|iframe)\b[^>]*\b(?:href|src)=\"?(?:https?:)?//[^\">]*")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        [sys.executable, ROOT / "tools" / "docs_site.py", folder],
        env={**os.environ, "PATH": path},
        check=True,
    )
    return folder


def test_every_page_is_there_and_in_the_navigation(site: Path) -> None:
    first = (site / "index.html").read_text(encoding="utf-8")
    navigation = first[first.index("<nav") : first.rindex("</nav>")]
    for page in (ROOT / "docs").rglob("*.md"):
        path = page.relative_to(ROOT / "docs").with_suffix("")
        if path.name == "index":
            continue
        assert (site / path / "index.html").is_file()
        assert f'href="./{path}/"' in navigation, path


def test_what_pages_link_to_outside_of_the_docs_comes_along(site: Path) -> None:
    security = (site / "security" / "index.html").read_text(encoding="utf-8")

    assert "source/tests/interface/test_edge.py" in security
    assert (site / "source" / "tests" / "interface" / "test_edge.py").is_file()
    assert (site / "source" / "benchmarks" / "index.html").is_file()


def test_nothing_comes_from_another_host(site: Path) -> None:
    foreign = {
        found
        for page in site.rglob("*.html")
        for found in LOADED.findall(page.read_text(encoding="utf-8"))
    }

    assert foreign == set()
