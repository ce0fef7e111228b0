"""Builds the documentation as a site: ``python tools/docs_site.py [FOLDER]``.

The navigation is what ``docs/index.md`` lists. Files outside of ``docs`` that pages link to come
along: other pages as pages, the rest as files. A link or anchor that leads nowhere fails the build.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)#\s]+)")
SECTION = re.compile(r"^## (.+)$|\[([^\]]+)\]\(([\w/-]+\.md)\)", re.MULTILINE)
OUTSIDE = "source"
"""The folder of what lies outside of ``docs``."""
SETTINGS = """
[project.theme]
font = false
features = ["content.code.copy", "navigation.sections", "navigation.top", "search.highlight"]

[[project.theme.palette]]
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark"

[[project.theme.palette]]
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light"

[project.extra]
generator = false
"""
"""Nothing comes from another host: hence ``font = false``, and no plugin ``offline``, whose pages
load a script."""


def build(site: Path) -> None:
    """Write the site into the folder ``site``, which is emptied first.

    Raises ``CalledProcessError`` if a link leads nowhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        sources = project / "docs"
        shutil.copytree(DOCS, sources)
        for page in sorted(sources.rglob("*.md")):
            _bring_along(page, sources)
        (project / "zensical.toml").write_text(_configuration(), encoding="utf-8")
        subprocess.run(["zensical", "build", "--strict"], cwd=project, check=True)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(project / "site", site)


def _bring_along(page: Path, sources: Path) -> None:
    """Copy what a page links to outside of ``docs``, and let the page link to the copy."""
    folder = (DOCS / page.relative_to(sources)).parent
    up = "../" * (len(page.relative_to(sources).parts) - 1)

    def replace(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target.is_relative_to(DOCS):
            return found[0]
        name = f"{OUTSIDE}/{target.relative_to(ROOT)}"
        copy = sources / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, copy)
        return f"{found[1]}{up}{name}"

    text = page.read_text(encoding="utf-8")
    page.write_text(LINK.sub(replace, text), encoding="utf-8")


def _configuration() -> str:
    """Settings of the site, in TOML, whose strings are written as JSON's are."""
    entries = [{"Model Gateway": "index.md"}]
    sections: dict[str, list[dict[str, str]]] = {}
    pages = entries
    for heading, title, path in SECTION.findall((DOCS / "index.md").read_text(encoding="utf-8")):
        if heading:
            pages = sections.setdefault(heading, [])
        else:
            pages.append({title[0].upper() + title[1:]: path})
    nav = [*entries, *({heading: below} for heading, below in sections.items() if below)]
    return f'[project]\nsite_name = "Model Gateway"\nnav = {_toml(nav)}\n{SETTINGS}'


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "docs")
