"""The values of one plugin's settings: which counts, where it comes from, which does not fit.

```text
default  ◀  stored  ◀  handed over by the embedding program  ◀  process variable
```

What stands further right wins. A value that does not fit is reported and left
out, so the next one to its left counts. Members that nobody declares are left
alone: they belong to an older or a newer version of the plugin.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from ..storage.stores.plugin_document import PluginDocument
from .records import Problem
from .setting_fields import Declared, SettingField, masked, prefix, texts

Document = Mapping[str, Any]
SET_RIGHT = "Correct what is set, or take it back."
DEEPEST = 100
"""Levels of lists and objects in one setting."""


class SettingSource(StrEnum):
    """Where the value in force of a setting comes from."""

    DEFAULT = "default"
    STORED = "stored"
    PROGRAM = "program"
    """Handed over by the embedding program."""
    ENVIRONMENT = "environment"


class InForce(Struct, frozen=True, kw_only=True):
    """The settings of one plugin, settled."""

    value: Struct
    sources: Mapping[str, SettingSource] = {}
    """Of every member that has not its default."""
    faults: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"InForce({sorted(self.sources)}, faults={self.faults})"


class SettingRefused(ValueError):
    """A value that does not fit; the message holds no secret."""


class Layers(Struct, frozen=True, kw_only=True):
    """What sets one plugin's settings, besides their defaults."""

    stored: PluginDocument
    program: Document
    variables: Mapping[str, str]

    def __repr__(self) -> str:
        return "Layers()"


class Chosen(Struct, frozen=True, kw_only=True):
    """The value of every member that is set soundly, where each is from, and what is not."""

    members: dict[str, Any]
    sources: dict[str, SettingSource]
    faults: list[str]

    def __repr__(self) -> str:
        return f"Chosen({sorted(self.sources)}, faults={self.faults})"


def settle(declared: Declared, layers: Layers) -> InForce:
    """What counts. Where the plugin refuses it, the defaults do."""
    chosen = choose(declared, layers)
    try:
        value = value_of(declared, chosen.members)
    except SettingRefused as refusal:
        message = f"its settings are refused, so the defaults count: {refusal}"
        return InForce(value=declared.struct(), faults=(*chosen.faults, message))
    return InForce(value=value, sources=chosen.sources, faults=tuple(chosen.faults))


def refusal_of(declared: Declared, layers: Layers) -> str | None:
    """Why the plugin refuses what has come together; ``None`` when it does not."""
    try:
        value_of(declared, choose(declared, layers).members)
    except SettingRefused as refusal:
        return str(refusal)
    return None


def choose(declared: Declared, layers: Layers) -> Chosen:
    """Look at every value by itself."""
    broken = [f"the stored {name} cannot be opened" for name in layers.stored.broken]
    chosen = Chosen(members={}, sources={}, faults=broken)
    _take(chosen, declared, SettingSource.STORED, layers.stored.members)
    _take(chosen, declared, SettingSource.PROGRAM, layers.program)
    for field in declared.fields:
        if field.variable in layers.variables:
            try:
                chosen.members[field.name] = _read(
                    declared, field, layers.variables[field.variable]
                )
                chosen.sources[field.name] = SettingSource.ENVIRONMENT
            except SettingRefused as refusal:
                chosen.faults.append(f"the variable {field.variable} is left out: {refusal}")
    return chosen


def _take(chosen: Chosen, declared: Declared, source: SettingSource, document: Document) -> None:
    for name in sorted(document.keys() & declared.names):
        fault = misfit(declared, name, document[name])
        if fault is None:
            chosen.members[name], chosen.sources[name] = document[name], source
        else:
            chosen.faults.append(f"the setting {name} ({source}) is left out: {fault}")


def misfit(declared: Declared, name: str, value: Any) -> str | None:
    """Why a value is none for a member; ``None`` when it is."""
    if name not in declared.names:
        return f"there is no setting {name}"
    if is_deep(value):
        return f"{name} is nested more than {DEEPEST} levels deep"
    try:
        msgspec.convert({name: value}, declared.shape)
    except msgspec.ValidationError as error:
        return f"{name} does not fit its type" if name in declared.secrets else str(error)
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # of a struct inside, or too deep
        return f"{name} is refused with {type(error).__name__}"
    return None


def _read(declared: Declared, field: SettingField, text: str) -> Any:
    """The value in a variable: text where the setting takes it, else JSON, else a bare word.

    Raises SettingRefused.
    """
    decoded: Any = text
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        decoded = msgspec.json.decode(text)
    if is_deep(decoded):
        raise SettingRefused(f"it is nested more than {DEEPEST} levels deep")
    for strict, value in ((True, text), (True, decoded), (False, text)):
        try:
            converted = msgspec.convert({field.name: value}, declared.shape, strict=strict)
        except (Exception, SystemExit, KeyboardInterrupt):  # a struct's own checks, as below
            continue
        return msgspec.to_builtins(converted)[field.name]
    raise SettingRefused(f"it is to hold {field.type}")


def is_deep(value: object, most: int = DEEPEST) -> bool:
    """Whether a value of JSON has more levels than can be handed around."""
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(members, str) or not isinstance(members, Iterable):
        return False
    return most == 0 or any(is_deep(each, most - 1) for each in members)


def value_of(declared: Declared, members: Document) -> Struct:
    """The plugin's own struct. Raises SettingRefused."""
    try:
        return msgspec.convert(dict(members), declared.struct)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        # A struct's own checks are the plugin's code, and so is the text of what they raise.
        message = type(error).__name__
        with suppress(Exception):
            message = str(error) or message
    secrets = (members[name] for name in declared.secrets & members.keys())
    raise SettingRefused(masked(message, chain.from_iterable(map(texts, secrets))))


def owners_of(declared: Iterable[Declared]) -> dict[str, list[str]]:
    """The plugins that a variable means a setting of; more than one means none."""
    owners: dict[str, list[str]] = {}
    for each in declared:
        for field in each.fields:
            owners.setdefault(field.variable, []).append(each.plugin)
    return owners


def strays(
    declared: Mapping[str, Declared],
    owners: Mapping[str, list[str]],
    variables: Mapping[str, str],
    program: Mapping[str, Document],
) -> Iterable[Problem]:
    """What is set and means no setting, or more than one."""
    for variable in sorted(variables.keys() & owners.keys()):
        if len(owners[variable]) > 1:
            message = f"the variable {variable} is not read: it means a setting of each of "
            message += ", ".join(owners[variable])
            yield Problem(owners[variable][0], message, advice=SET_RIGHT)
    for name in sorted(declared):
        unknown = [v for v in variables if v.startswith(prefix(name)) and v not in owners]
        for variable in sorted(unknown):
            message = f"the variable {variable} means none of its settings"
            yield Problem(name, message, advice=SET_RIGHT)
    for name in sorted(program):
        known = declared[name].names if name in declared else frozenset()
        for member in sorted(program[name].keys() - known):
            yield Problem(name, f"the embedding program sets {member}, which is no setting of it")
