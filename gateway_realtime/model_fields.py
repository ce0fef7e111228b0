"""Finds the models that an event names, and puts other names in their places.

Only the places that a vendor declares are looked at, and nothing else of the text is changed: not
a space, not a number. An object that has a member twice on the way to such a place is refused,
because it could name one model here and another one at the vendor.
"""

import json
import re
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Raw, Struct

EACH = "[]"
"""Stands for every item of a list."""

Tree = dict[str, "Tree"]
"""Members on the way to the places; an empty one is a place."""

_may_name = re.compile(r"model|\\", re.IGNORECASE).search
"""An escape could hide the letters of a member's name."""
_skip_space = re.compile(r"[ \t\n\r]*").match
_read_value = json.JSONDecoder().raw_decode
"""The value that begins at an index, and where it ends."""
_members = msgspec.json.Decoder(dict[str, Raw]).decode


class NamedModel(Struct, frozen=True):
    """A model's name in the text of an event."""

    field: str
    """The declared place."""
    name: str
    start: int
    """Where the string begins, with its quote, and behind which character it ends."""
    end: int


def tree_of(fields: Iterable[str]) -> Tree:
    """The declared places as a tree: ``session.tools[].model``."""
    tree: Tree = {}
    for field in fields:
        branch = tree
        for name in field.lower().replace(EACH, f".{EACH}").split("."):
            branch = branch.setdefault(name, {})
    return tree


def find_models(text: str, tree: Tree) -> list[NamedModel]:
    """The models that an event names, in order. Raises ValueError for what is no JSON object, and
    for one whose members leave a choice."""
    try:
        _members(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError("Invalid JSON") from error
    found: list[NamedModel] = []
    if tree and _may_name(text):
        try:
            _walk(text, 0, tree, "", found)
        except (IndexError, RecursionError) as error:
            raise ValueError("Invalid JSON") from error
    return found


def rename(text: str, models: Iterable[NamedModel], name_of: Callable[[str], str]) -> str:
    """The text with other names; the same one where none differs."""
    parts, at = [], 0
    for model in models:
        name = name_of(model.name)
        if name != model.name:
            parts += [text[at : model.start], json.dumps(name)]
            at = model.end
    return "".join([*parts, text[at:]]) if parts else text


def _walk(text: str, at: int, tree: Tree, path: str, found: list[NamedModel]) -> int:
    """Look into the value that begins here; where it ends."""
    at = _space(text, at)
    if text[at] == '"' and not tree:
        name, end = _read_value(text, at)
        found.append(NamedModel(path, name, at, end))
        return end
    if text[at] == "{" and tree:
        return _walk_object(text, at + 1, tree, path, found)
    if text[at] == "[" and EACH in tree:
        return _walk_list(text, at + 1, tree[EACH], f"{path}{EACH}", found)
    _, end = _read_value(text, at)
    return end


def _walk_object(text: str, at: int, tree: Tree, path: str, found: list[NamedModel]) -> int:
    seen = set()
    at = _space(text, at)
    while text[at] != "}":
        name, at = _read_value(text, at)
        at = _space(text, at) + 1  # the colon
        # Some vendors' readers take a member's name in capitals too.
        name = name.lower()
        branch = tree.get(name)
        if branch is None:
            _, at = _read_value(text, _space(text, at))
        else:
            if name in seen:
                raise ValueError("Ambiguous native model field")
            seen.add(name)
            at = _walk(text, at, branch, f"{path}.{name}" if path else name, found)
        at = _space(text, at)
        if text[at] == ",":
            at = _space(text, at + 1)
    return at + 1


def _walk_list(text: str, at: int, tree: Tree, path: str, found: list[NamedModel]) -> int:
    at = _space(text, at)
    while text[at] != "]":
        at = _space(text, _walk(text, at, tree, path, found))
        if text[at] == ",":
            at += 1
            at = _space(text, at)
    return at + 1


def _space(text: str, at: int) -> int:
    found = _skip_space(text, at)
    return at if found is None else found.end()
