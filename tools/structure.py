"""Prints figures on the structure of each package: sizes, comments, helpers with one caller.

``python tools/structure.py`` measures every package; ``python tools/structure.py FOLDER ...``
measures those folders. Columns: modules and functions in lines (median, 90 %, longest), comments
per 100 lines, private helpers that are used once (and their share of all functions), and words
that the glossary replaces. ``--once FOLDER ...`` lists those helpers.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGES = (
    *(f"gateway_core/{room}" for room in ("contracts", "config", "storage", "identity")),
    *(f"gateway_core/{room}" for room in ("plugins", "upstream", "metering", "routing")),
    *(f"gateway_core/{room}" for room in ("pipeline", "http")),
    "gateway_core",
    "gateway_cli",
    "gateway_administration",
    "gateway_postgres",
    *("gateway_formats", "gateway_providers", "gateway_dashboard_api", "gateway_services"),
    "gateway_files",
    "gateway_realtime",
    *("gateway_files", "gateway_batches"),
    "gateway_native",
    "gateway_observing",
    "gateway_filters",
    "gateway_groups",
    *("plugins/formats", "plugins/providers", "plugins/servers", "plugins/extensions"),
)
REPLACED_WORDS = re.compile(
    r"\b_?(desks?|laid|praised?|blamed?|veil(ed|s)?|hang_up|noting|goes_first|own_desk|plan_of|"
    r"Arrivals?|Verbatim|Handover|Visitor|let_go|stamps|goes_first)\b|\b_?told\(",
)
"""Words of the first design that the glossary of docs/architecture.md has replaced."""
NOT_COMMENTS = ("noqa", "type:", "pragma", "fmt:", "!")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """One source file."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return self.text.count("\n")


class Figures(NamedTuple):
    """The figures of one folder."""

    name: str
    modules: Sequence[int]
    functions: Sequence[int]
    comments: float
    """Per 100 lines."""
    one_caller: int
    """Private functions and methods that their module uses once."""
    words: int

    @property
    def one_caller_share(self) -> float:
        """Per cent of all functions."""
        return 100 * self.one_caller / len(self.functions) if self.functions else 0.0


def modules(folder: Path) -> tuple[Module, ...]:
    """The modules below a folder."""
    return tuple(
        Module(path, text, ast.parse(text, str(path)))
        for path in sorted(folder.rglob("*.py"))
        for text in (path.read_text("utf-8"),)
    )


def measure(name: str, members: Sequence[Module]) -> Figures:
    """The figures of some modules, taken together as one package."""
    functions = [node for module in members for node in functions_of(module)]
    lines = sum(module.lines for module in members)
    comments = sum(1 for module in members for _ in comments_of(module.text))
    return Figures(
        name=name,
        modules=[module.lines for module in members],
        functions=[(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions],
        comments=100 * comments / lines if lines else 0.0,
        one_caller=sum(1 for module in members for _ in used_once(module)),
        words=sum(len(REPLACED_WORDS.findall(module.text)) for module in members),
    )


def functions_of(module: Module) -> list[Function]:
    return [node for node in ast.walk(module.tree) if isinstance(node, Function)]


def used_once(module: Module) -> Iterator[str]:
    """Private functions that only one place in their module uses."""
    uses = Counter(names_used(module.tree))
    for function in functions_of(module):
        if is_private(function.name) and uses[function.name] == 1:
            yield function.name


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def names_used(tree: ast.AST) -> Iterator[str]:
    """Every name and attribute that is read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def comments_of(text: str) -> Iterator[str]:
    """Lines of comments, without directives for tools."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            content = token.string.lstrip("#").strip()
            if content and not content.startswith(NOT_COMMENTS):
                yield content


def spread(values: Sequence[int]) -> str:
    """Median, 90 % and longest."""
    ordered = sorted(values) or [0]
    last = len(ordered) - 1
    return f"{ordered[last // 2]}/{ordered[last * 9 // 10]}/{ordered[-1]}"


def report(rows: Iterable[Figures]) -> Iterator[str]:
    yield (
        f"{'package':34} {'lines':>6} {'modules':>13} {'functions':>13} {'comments':>8} "
        f"{'one caller':>11} {'words':>5}"
    )
    for row in rows:
        share = f"{row.one_caller} {row.one_caller_share:.0f} %"
        yield (
            f"{row.name:34} {sum(row.modules):>6} {spread(row.modules):>13} "
            f"{spread(row.functions):>13} {row.comments:>8.1f} {share:>11} {row.words:>5}"
        )


def main(folders: Sequence[str]) -> None:
    """Print a row for each folder, or the helpers that are used once."""
    if folders[:1] == ["--once"]:
        for folder in folders[1:]:
            for module in modules(ROOT / folder):
                for name in used_once(module):
                    print(f"{module.path.relative_to(ROOT)}: {name}")
        return
    rows = (measure(name, modules(ROOT / name)) for name in folders if (ROOT / name).is_dir())
    print("\n".join(report(rows)))


if __name__ == "__main__":
    main(sys.argv[1:] or PACKAGES)
