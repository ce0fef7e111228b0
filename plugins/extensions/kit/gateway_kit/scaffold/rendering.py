"""The files of a plugin, made of templates that come with the kit."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template

from .description import DEFAULT_FORMAT, PluginDescription
from .single_module import join_modules

TEMPLATES = files(__package__).joinpath("templates")
ENDING = ".txt"
"""The suffix of template files, so that tools do not treat them as source."""
_PACKAGE = {
    "pyproject.toml": "package/pyproject.toml",
    "README.md": "package/README.md",
    "CHANGELOG.md": "package/CHANGELOG.md",
    ".gitignore": "package/gitignore",
}
"""What every package has, by its path."""
FORMAT_MODULES = (
    *("_wire_types", "client_requests", "vendor_requests", "vendor_stream", "vendor_replies"),
    *("client_stream", "client_replies", "errors", "relay", "grammar", "__init__"),
)
"""Each after those that it imports."""


def files_of(description: PluginDescription) -> dict[str, str]:
    """Every file's text by its posix path; a single file has only its name."""
    words = description.words()
    if description.is_file:
        return {
            description.place: join_modules(
                [_render(each, words) for each in _modules(description).values()]
            )
        }
    names = {
        **_PACKAGE,
        **{f"{description.module}/{path}": name for path, name in _modules(description).items()},
        "tests/test_conformance.py": f"{description.kind}/test_conformance.py",
    }
    return {
        f"{description.module}/py.typed": "",
        **{path: _render(name, words) for path, name in names.items()},
    }


def _modules(description: PluginDescription) -> dict[str, str]:
    """The plugin's own modules, each with its template, in the order in which they are imported."""
    if description.kind == "provider":
        usual = "openai" if description.wire == DEFAULT_FORMAT else "other"
        return {"__init__.py": f"provider/{usual}.py"}
    modules = FORMAT_MODULES if description.kind == "format" else ("__init__",)
    return {f"{module}.py": f"{description.kind}/{module}.py" for module in modules}


def _render(name: str, words: Mapping[str, str]) -> str:
    text = TEMPLATES.joinpath(f"{name}{ENDING}").read_text("utf-8")
    return Template(text).substitute(words)
