"""A gateway's whole configuration as a file, with references in the place of secrets."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from .documents import write_document
from .references import new_reference, without_secrets
from .section import VALUE, FieldPath, Section
from .sections import FORM, SECTIONS, VERSION
from .world import CallRefused, Fields, Name, Stored, World

FORBIDDEN = (401, 403)


class Exported(Struct, frozen=True, kw_only=True):
    """A file, and what its reader has to know."""

    text: str
    variables: Mapping[str, str]
    """Variables to set before the file is applied, and what each is for."""
    notes: tuple[str, ...]


def export(world: World, only: tuple[str, ...] = ()) -> Exported:
    """Read a gateway. ``only`` are sections; without any, all of them. Raises CallRefused."""
    tree: dict[str, Any] = {VERSION: FORM}
    variables: dict[str, str] = {}
    notes: list[str] = []
    for section in SECTIONS.values():
        if only and section.name not in only:
            continue
        try:
            objects = world.stored(section.name)
        except CallRefused as error:
            if error.status not in FORBIDDEN:
                raise
            notes.append(f"{section.name} are left out: {error}")
            continue
        below: dict[str, Any] = {}
        for stored in objects:
            fields = _fields(world, section, stored, variables)
            if fields is not None:
                _put(below, stored.name, fields[VALUE] if section.is_plain else fields)
        if below:
            tree[section.name] = below
    notes.extend(_not_portable(world, tree))
    head = _head(variables, notes)
    return Exported(text=head + write_document(tree), variables=variables, notes=tuple(notes))


def _fields(
    world: World, section: Section, stored: Stored, variables: dict[str, str]
) -> Fields | None:
    kept = section.exported(world, stored)
    if kept is None:
        return None
    words = (*((section.name,) if section.levels < 2 else ()), *stored.name)
    fields: Fields = without_secrets(kept, words, variables)
    for path in section.secrets(world, stored):
        _put(fields, path, new_reference((*words, *path[-1:]), variables))
    return {name: value for name, value in fields.items() if not _is_empty(name, value)}


def _is_empty(name: str, value: Any) -> bool:
    return name != VALUE and value in ({}, None)


def _put(tree: dict[str, Any], path: Name | FieldPath, value: Any) -> None:
    if not path:
        tree.update(value)
        return
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value


def _not_portable(world: World, tree: Mapping[str, Any]) -> list[str]:
    """What another gateway could not make from the file."""
    if "connections" not in tree:
        return []
    notes = []
    for stored in world.stored("connections"):
        title = f"connections/{'/'.join(stored.name)}"
        if stored.row["authType"] not in ("apikey", "none", "cookie"):
            notes.append(f"{title} logs in at its vendor: a file can change it, not create it")
        schema = world.vendors.get(stored.name[0], {}).get("accountSchema", {})
        members = schema.get("properties", {}).items()
        secret = [name for name, described in members if described.get("writeOnly")]
        if secret:
            notes.append(f"{title} may hold what the gateway never shows: {', '.join(secret)}")
    return notes


def _head(variables: Mapping[str, str], notes: list[str]) -> str:
    lines = ["The configuration of a model gateway; see `model-gateway config --help`."]
    if variables:
        lines += ["", "Set these variables before it is applied:"]
        lines += [f"  {name}: {about}" for name, about in variables.items()]
    if notes:
        lines += ["", *notes]
    # A name with a line break in it must not end the comment.
    return "".join(f"# {' '.join(line.splitlines())}".rstrip() + "\n" for line in lines)
