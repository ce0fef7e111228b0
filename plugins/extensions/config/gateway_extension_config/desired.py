"""What a file wants, checked for shape: sections, objects and the fields it owns."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from .documents import Document, Path
from .references import Resolved, has_user
from .section import VALUE, NotInFile, Section
from .sections import FORM, SECTIONS, VERSION
from .tables import PluginSettings
from .world import Fields, Name, World, nearest


class Wanted(Struct, frozen=True, kw_only=True):
    """One object of a file."""

    section: Section
    name: Name
    fields: Fields
    """With references followed."""
    shown: Fields
    """As they are written, for people."""
    path: Path


def read_wanted(world: World, document: Document, resolved: Resolved) -> list[Wanted]:
    """Every object of a file, in the order in which they are made.

    Raises FileRefused for a file of another shape, and CallRefused.
    """
    check_form(document)
    settings = document.value.get(PluginSettings.name)
    world.only[PluginSettings.name] = frozenset(settings if isinstance(settings, dict) else ())
    return [
        wanted
        for name, section in SECTIONS.items()
        if name in document.value
        for wanted in _objects(world, document, resolved, section)
    ]


def check_form(document: Document) -> None:
    """Raises FileRefused for a file that has no such sections."""
    if not isinstance(document.value, dict):
        raise document.fault((), "a configuration is a mapping of sections")
    for name in document.value:
        if name not in (VERSION, *SECTIONS):
            raise document.fault((name,), f"there is no section {name}{nearest(name, SECTIONS)}")
    if document.value.get(VERSION, FORM) != FORM:
        raise document.fault((VERSION,), f"only version {FORM} is read")


def _objects(
    world: World, document: Document, resolved: Resolved, section: Section
) -> Iterator[Wanted]:
    places = _places(document, (section.name,), section.levels)
    for path in places:
        name = tuple(str(each) for each in path[1:])
        shown, fields = _at(document.value, path), _at(resolved.value, path)
        if section.is_plain:
            shown, fields = {VALUE: shown}, {VALUE: fields}
        elif not isinstance(shown, dict):
            raise document.fault(path, f"{_title(path)} has to be a mapping of fields")
        wanted = Wanted(section=section, name=name, fields=fields, shown=shown, path=path)
        _check_fields(world, document, wanted)
        _check_literals(world, document, resolved, wanted)
        yield wanted


def _places(document: Document, path: Path, levels: int) -> list[Path]:
    """Where objects are below a place."""
    if levels == 0:
        return [path]
    value = _at(document.value, path)
    if value is None:
        return []
    if not isinstance(value, dict):
        raise document.fault(path, f"{_title(path)} has to be a mapping of names")
    return [place for name in value for place in _places(document, (*path, name), levels - 1)]


def _check_fields(world: World, document: Document, wanted: Wanted) -> None:
    if wanted.section.is_plain:
        return
    try:
        known = wanted.section.fields(world, wanted.name)
    except NotInFile as error:
        raise document.fault(wanted.path, str(error)) from None
    for field in wanted.fields:
        if field in known:
            continue
        reason = wanted.section.skipped.get(field)
        detail = f" ({reason})" if reason else nearest(field, known)
        message = f"{wanted.section.name} have no field {field} in a file{detail}"
        raise document.fault((*wanted.path, field), message)


def _check_literals(world: World, document: Document, resolved: Resolved, wanted: Wanted) -> None:
    """Refuse secrets that are written out: files are copied, committed and mailed."""
    inside = () if wanted.section.is_plain else wanted.path
    for path, text in _texts(wanted.fields, ()):
        place = (*(inside or wanted.path), *(part for part in path if part != VALUE))
        if place in resolved.references or not text:
            continue
        members = tuple(part for part in path if isinstance(part, str))
        is_hidden = members != (VALUE,) and wanted.section.hides(world, wanted.name, members)
        if is_hidden or has_user(text):
            message = "a secret is written as ${env:NAME} or ${file:/path}, not in clear"
            raise document.fault(place, message)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, (*path, place))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _title(path: Path) -> str:
    return "/".join(map(str, path))
