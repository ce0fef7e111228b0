"""A package's modules as one module: their imports in front, then what each of them holds."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence

WIDTH = 100
"""Longest line."""


def join_modules(modules: Sequence[str]) -> str:
    """The modules, each after those that it imports; the docstring is the last one's.

    They import from one another by names, and no two have a name in common.
    """
    if len(modules) == 1:
        return modules[0]
    trees = [ast.parse(text) for text in modules]
    bodies: list[str] = []
    for text, tree in zip(modules, trees, strict=True):
        # A module's body is the text after the docstring and the imports.
        is_head = (ast.Import, ast.ImportFrom, ast.Expr)
        first = next(node for node in tree.body if not isinstance(node, is_head))
        above = [each.lineno for each in getattr(first, "decorator_list", ())]
        start = min([first.lineno, *above]) - 1
        bodies.append("\n".join(text.splitlines()[start:]).rstrip("\n"))
    docstring = ast.get_source_segment(modules[-1], trees[-1].body[0])
    return (
        "\n\n\n".join(
            [f"{docstring}\n\n{_imports(trees)}\n\n{bodies[0]}", *bodies[1:]],
        ).rstrip("\n")
        + "\n"
    )


def _imports(trees: Iterable[ast.Module]) -> str:
    """Every import but those among the modules, each once."""
    plain, names_by_module = set[str](), dict[str, set[str]]()
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.Import):
            plain |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names_by_module.setdefault(node.module, set()).update(
                alias.name for alias in node.names
            )
    blocks = [
        list(_import_block(plain, names_by_module, standard=standard)) for standard in (True, False)
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _import_block(
    plain: set[str], names_by_module: dict[str, set[str]], *, standard: bool
) -> Iterator[str]:
    """The imports of the standard library, or all others, as they are usually sorted."""
    yield from (f"import {name}" for name in sorted(plain) if _is_standard(name) is standard)
    for module in sorted(names_by_module):
        if _is_standard(module) is standard:
            # Constants, then classes, then all else.
            names = sorted(
                names_by_module[module],
                key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name),
            )
            line = f"from {module} import {', '.join(names)}"
            if len(line) > WIDTH:
                names_below = "\n".join(f"    {name}," for name in names)
                line = f"from {module} import (\n{names_below}\n)"
            yield line


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names
