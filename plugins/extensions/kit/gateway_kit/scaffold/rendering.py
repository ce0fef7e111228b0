"""The files of a plugin, made of templates that come with the kit."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template

from .description import DEFAULT_FORMAT, PluginDescription
from .single_module import join_modules

TEMPLATES = files(__package__).joinpath("templates")
ENDING = ".txt"
"""Of the templates' names, so that nobody takes them for what they become."""
_PACKAGE = {
    "pyproject.toml": "package/pyproject.toml",
    "README.md": "package/README.md",
    "CHANGELOG.md": "package/CHANGELOG.md",
    ".gitignore": "package/gitignore",
}
"""What every package has, by its path."""
FORMAT_MODULES = ("shapes", "requests", "reading", "writing", "errors", "passing", "__init__")
"""Each after those that it imports."""


def files_of(order: PluginDescription) -> dict[str, str]:
    """Every file's text by its posix path; a single file has only its name."""
    words = order.words()
    if order.is_file:
        return {
            order.place: join_modules([_render(each, words) for each in _modules(order).values()])
        }
    names = {
        **_PACKAGE,
        **{f"{order.module}/{path}": name for path, name in _modules(order).items()},
        "tests/test_conformance.py": f"{order.kind}/test_conformance.py",
    }
    return {
        f"{order.module}/py.typed": "",
        **{path: _render(name, words) for path, name in names.items()},
    }


def _modules(order: PluginDescription) -> dict[str, str]:
    """The plugin's own modules, each with its template, in the order in which they are imported."""
    if order.kind == "provider":
        usual = "openai" if order.wire == DEFAULT_FORMAT else "other"
        return {"__init__.py": f"provider/{usual}.py"}
    modules = FORMAT_MODULES if order.kind == "format" else ("__init__",)
    return {f"{module}.py": f"{order.kind}/{module}.py" for module in modules}


def _render(name: str, words: Mapping[str, str]) -> str:
    text = TEMPLATES.joinpath(f"{name}{ENDING}").read_text("utf-8")
    return Template(text).substitute(words)
