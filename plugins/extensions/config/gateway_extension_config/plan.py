"""What a file changes at a gateway: the difference between the two, field by field.

A mapping in a file owns the members that it names; every other value is owned as a whole. What a
file does not name stays as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from .desired import Wanted, read_wanted
from .documents import Document, Path
from .references import Resolved, Unresolved, has_user, unresolved_in
from .section import VALUE, FieldPath, NotInFile, Section
from .sections import SECTIONS
from .world import Fields, Name, Stored, World

Action = Literal["create", "update", "delete"]
HIDDEN = "(hidden)"
PLACEHOLDER = "made-by-this-plan"


class FieldChange(Struct, frozen=True, kw_only=True):
    """One value that differs. Neither side shows a secret."""

    field: str
    before: Any
    after: Any


class Change(Struct, frozen=True, kw_only=True):
    """What is done to one object."""

    action: Action
    section: Section
    name: Name
    fields: Fields = {}
    """What is sent."""
    changes: tuple[FieldChange, ...] = ()
    secrets: tuple[str, ...] = ()
    """Fields that are written and cannot be compared."""
    stored: Stored | None = None
    path: Path = ()

    @property
    def title(self) -> str:
        return "/".join((self.section.name, *self.name))


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that a file changes, in order."""

    changes: tuple[Change, ...]
    extra: tuple[str, ...]
    """Objects of the file's sections that the file does not have, and that stay."""
    missing: tuple[str, ...]
    """References that lead nowhere."""


def make_plan(
    world: World,
    document: Document,
    resolved: Resolved,
    *,
    prune: bool = False,
    write_secrets: bool = False,
) -> Plan:
    """Compare a file with a gateway. Raises FileRefused, CallRefused.

    ``prune`` deletes what the file's sections do not have, and ``write_secrets`` writes what
    cannot be compared.
    """
    wanted = read_wanted(world, document, resolved)
    names = {(each.section.name, each.name) for each in wanted}
    for section, name in names:
        if world.id_of(section, name) is None:
            world.ids[section, name] = PLACEHOLDER
    moved = frozenset(
        each.name[0] for each in wanted if each.section.name == "nodes" and _moves(world, each)
    )
    changes = []
    for each in wanted:
        is_moved = each.section.name == "connections" and each.name[0] in moved
        change = _compare(world, document, each, write_secrets=write_secrets or is_moved)
        if change is not None:
            _check(world, document, change)
            changes.append(change)
    extra = [
        (section, stored)
        for section in SECTIONS.values()
        if section.can_prune and section.name in document.value
        for stored in world.stored(section.name)
        if (section.name, stored.name) not in names
    ]
    removals = [
        Change(action="delete", section=section, name=stored.name, stored=stored)
        for section, stored in reversed(extra)
        if prune
    ]
    return Plan(
        changes=(*_in_order(changes), *removals),
        extra=() if prune else tuple("/".join((s.name, *each.name)) for s, each in extra),
        missing=tuple(sorted({text for texts in resolved.missing.values() for text in texts})),
    )


def _find(world: World, wanted: Wanted) -> Stored | None:
    stored = world.stored(wanted.section.name)
    return next((each for each in stored if each.name == wanted.name), None)


def _moves(world: World, wanted: Wanted) -> bool:
    """Whether a node's address changes, at which the gateway clears its accounts' keys."""
    stored = _find(world, wanted)
    url = wanted.fields.get("baseUrl")
    return stored is not None and url is not None and url != stored.fields.get("baseUrl")


def _compare(
    world: World,
    document: Document,
    wanted: Wanted,
    *,
    write_secrets: bool,
) -> Change | None:
    section, stored = wanted.section, _find(world, wanted)
    if stored is None:
        _check_new(world, document, wanted)
    current = {} if stored is None else stored.fields
    hidden: list[FieldPath] = []
    differing: list[FieldPath] = []
    for path, is_hidden in _differences(world, wanted, wanted.fields, current, ()):
        (hidden if is_hidden else differing).append(path)
    _check_known(document, wanted, differing)
    changes = tuple(_shown(wanted, current, path) for path in differing)
    is_due = stored is None or write_secrets
    if stored is not None and section.owes_secrets(stored, wanted.fields, differing):
        is_due = True
    sent = [*differing, *(hidden if is_due else ())]
    if stored is not None and not sent:
        return None
    kept = wanted.fields if is_due else _without(wanted.fields, (), hidden)
    touched = dict.fromkeys(path[0] for path in sent)
    return Change(
        action="create" if stored is None else "update",
        section=section,
        name=wanted.name,
        fields=kept
        if stored is None
        else {name: _merged(section, current.get(name), kept[name]) for name in touched},
        changes=changes,
        secrets=tuple(".".join(path) for path in hidden) if is_due else (),
        stored=stored,
        path=wanted.path,
    )


def _check_new(world: World, document: Document, wanted: Wanted) -> None:
    try:
        wanted.section.check_new(world, wanted.name, wanted.fields)
    except NotInFile as error:
        raise document.fault(wanted.path, str(error)) from None
    plain = [each.name for each in world.stored(wanted.section.name)]
    alike = [name for name in plain if name[-1].startswith(f"{wanted.name[-1]} (")]
    if wanted.name and len(alike) > 1:
        known = ", ".join(name[-1] for name in alike)
        message = f"{wanted.name[-1]} is the name of several; write one of: {known}"
        raise document.fault(wanted.path, message)


def _differences(
    world: World, wanted: Wanted, value: Any, current: Any, path: FieldPath
) -> Iterator[tuple[FieldPath, bool]]:
    """Paths inside an object that differ, and whether each is hidden."""
    if path and path != (VALUE,) and wanted.section.hides(world, wanted.name, path):
        yield path, True
    elif isinstance(value, dict) and (not path or isinstance(current, Mapping | None)):
        before = current or {}
        # An empty mapping owns nothing, but it can be made.
        if path and not value and current is None:
            yield path, False
        for name, inner in value.items():
            yield from _differences(world, wanted, inner, before.get(name), (*path, name))
    elif value != current and (
        wanted.section.completed(world, wanted.name, path, value) != current
    ):
        yield path, False


def _check_known(document: Document, wanted: Wanted, differing: Iterable[FieldPath]) -> None:
    """Refuse references that lead nowhere, in values that have to be compared."""
    for path in differing:
        value: Any = wanted.fields
        for part in path:
            value = value[part]
        lost = unresolved_in(value)
        if lost:
            place = wanted.path if wanted.section.is_plain else (*wanted.path, *path)
            raise document.fault(place, "; ".join(lost))


def _shown(wanted: Wanted, current: Any, path: FieldPath) -> FieldChange:
    before, after = current, wanted.shown
    for part in path:
        before = before.get(part) if isinstance(before, Mapping) else None
        after = after[part]
    return FieldChange(field=".".join(path), before=masked(before), after=after)


def masked(value: Any) -> Any:
    """A stored value without users and passwords of addresses."""
    if isinstance(value, Mapping):
        return {name: masked(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [masked(each) for each in value]
    return HIDDEN if isinstance(value, str) and has_user(value) else value


def _merged(section: Section, current: Any, value: Any) -> Any:
    """A field's new value: the members of the file over those that are stored."""
    if not isinstance(value, dict) or not isinstance(current, Mapping | None):
        return value
    whole = dict(current or {})
    for name, inner in value.items():
        if inner is None and section.nulls_remove:
            whole.pop(name, None)
        else:
            whole[name] = _merged(section, whole.get(name), inner)
    return whole


def _without(value: Any, path: FieldPath, hidden: Sequence[FieldPath]) -> Any:
    """A value without its hidden members."""
    if not isinstance(value, dict):
        return value
    return {
        name: _without(inner, (*path, name), hidden)
        for name, inner in value.items()
        if (*path, name) not in hidden
    }


def _check(world: World, document: Document, change: Change) -> None:
    """Check what would be sent by the schema of its route. Raises FileRefused."""
    new = change.action == "create"
    fields = _complete(change.fields)
    try:
        body = change.section.body(world, change.name, fields, new=new)
    except NotInFile as error:
        raise document.fault(change.path, f"{change.title}: {error}") from None
    schema = change.section.schema(world, new=new)
    if schema is None:
        return
    # Its import takes 1.5 s of a processor where its formats are installed; no other command waits.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    whole = {**schema, "components": world.document["components"]}
    fault = best_match(Draft202012Validator(whole).iter_errors(body))
    if fault is not None:
        inside = tuple(part for part in fault.absolute_path if part != VALUE)
        where = ".".join(map(str, inside)) or change.title
        expected = _expected(fault.schema)
        raise document.fault((*change.path, *inside), f"{where} does not fit: {expected} is needed")


def _complete(value: Any) -> Any:
    """A value with text where references lead nowhere."""
    if isinstance(value, Unresolved):
        return PLACEHOLDER
    if isinstance(value, dict):
        return {name: _complete(inner) for name, inner in value.items()}
    return [_complete(each) for each in value] if isinstance(value, list) else value


def _expected(schema: Any) -> str:
    """What a schema wants, in words; the value itself may be a secret."""
    if not isinstance(schema, Mapping):
        return "another value"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_expected(each) for each in schema["anyOf"])
    limits = ("minimum", "maximum", "exclusiveMaximum", "minLength", "maxLength")
    bounds = [f"{limit} {schema[limit]}" for limit in limits if limit in schema]
    kind = schema.get("type", "another value")
    words = {"array": "a list", "object": "a mapping", "string": "text", "boolean": "true or false"}
    return " ".join((words.get(kind, str(kind)), *((f"({', '.join(bounds)})",) if bounds else ())))


def _in_order(changes: Sequence[Change]) -> list[Change]:
    """Each after what its models name, so that they resolve; accounts by their place."""
    ordered = sorted(
        changes,
        key=lambda change: _place(change) if change.section.name == "connections" else 0,
    )
    ranks = {name: rank for rank, name in enumerate(SECTIONS)}
    ordered.sort(key=lambda change: ranks[change.section.name])
    linked = {each.name[0]: each for each in ordered if each.section.name in ("aliases", "combos")}
    done: dict[str, Change] = {}

    def visit(name: str) -> None:
        change = linked.pop(name, None)
        if change is not None:
            for model in _models(change):
                visit(model)
            done[name] = change

    for name in list(linked):
        visit(name)
    first = ranks["aliases"]
    before = [each for each in ordered if ranks[each.section.name] < first]
    after = [each for each in ordered if ranks[each.section.name] > ranks["combos"]]
    return [*before, *done.values(), *after]


def _place(change: Change) -> int:
    place = change.fields.get("priority")
    # Without a place an account goes behind the others.
    return place if isinstance(place, int) else 1 << 31


def _models(change: Change) -> list[str]:
    models = change.fields.get(VALUE) or change.fields.get("models") or ()
    return [models] if isinstance(models, str) else [each for each in models if type(each) is str]
