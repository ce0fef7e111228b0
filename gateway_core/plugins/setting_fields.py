"""What a plugin declares as its settings: one struct, inspected once and described field by field.

A field is secret when its annotation says so, or when its name does, such as
``api_key``; ``Meta(extra={"secret": False})`` says that such a name is none.
``Meta(extra={"variable": "ACME_REGION"})`` names another process variable than
the usual one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, UnsetType, inspect

from ..storage.stores.secret_members import is_secret

MASK = "•" * 8
"""Stands for a secret that is set."""
SECRET = "secret"
"""The member of ``Meta(extra=…)`` that says whether a field is one."""
VARIABLE = "variable"
"""The member of ``Meta(extra=…)`` that names a field's process variable."""
MOST_FIELDS = 200
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
# A name of the usual form would be another plugin's.
_VARIABLE = re.compile(r"(?!PLUGIN_)[A-Z][A-Z0-9_]{0,63}")
_REFERENCE = "#/$defs/"

Schema = Mapping[str, Any]


class Unsound(ValueError):
    """A declaration that cannot be used; the message says why."""


class SettingField(Struct, frozen=True, kw_only=True, rename="camel"):
    """One setting of a plugin, for people."""

    name: str
    """In JSON."""
    type: str
    """What it takes, in words."""
    description: str | None
    default: Any
    """As JSON; a secret is masked."""
    secret: bool
    variable: str
    """The process variable that sets it too."""


class Declared(Struct, frozen=True, kw_only=True):
    """A sound declaration."""

    plugin: str
    struct: type[Struct]
    fields: tuple[SettingField, ...]
    shape: type[Struct]
    """The same members, each of which may be missing; it has no rules of its own."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields)

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the secret ones."""
        return frozenset(field.name for field in self.fields if field.secret)


def declared(plugin: str, struct: object) -> Declared:
    """Look at what a plugin says its settings are. Runs the plugin's code. Raises Unsound."""
    if not (isinstance(struct, type) and issubclass(struct, Struct)):
        kind = struct if isinstance(struct, type) else type(struct)
        raise Unsound(f"expected a Struct type, got {kind.__name__}")
    faults = list(_faults(plugin, struct))
    if faults:
        raise Unsound("; ".join(faults))
    try:
        msgspec.json.schema(struct)
        msgspec.json.decode(msgspec.json.encode(struct()), type=struct)
    except msgspec.ValidationError as error:
        raise Unsound(f"a default does not fit its type: {error}") from None
    except (TypeError, ValueError) as error:
        raise Unsound(f"it cannot be written as JSON: {error}") from None
    fields = msgspec.structs.fields(struct)
    shape = msgspec.defstruct(
        f"{struct.__name__}Change",
        [(field.name, Union[field.type, UnsetType], UNSET) for field in fields],  # noqa: UP007
        rename={field.name: field.encode_name for field in fields},
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    return Declared(plugin=plugin, struct=struct, fields=described(plugin, struct), shape=shape)


def described(plugin: str, struct: type[Struct]) -> tuple[SettingField, ...]:
    """The fields of a sound declaration, in their order. Raises Unsound for a variable's name."""
    document = msgspec.json.schema(struct)
    others: Mapping[str, Schema] = document["$defs"]
    properties = others[document["$ref"].removeprefix(_REFERENCE)]["properties"]
    value, fields = struct(), []
    for field in _inspected(struct):
        member, secret = properties[field.encode_name], _is_secret(field)
        # A Meta on one arm of a union puts its description into that arm.
        schemas = (member, *member.get("anyOf", ()))
        fields.append(
            SettingField(
                name=field.encode_name,
                type=_words(member, others),
                description=next((s["description"] for s in schemas if "description" in s), None),
                default=shown(getattr(value, field.name), secret=secret),
                secret=secret,
                variable=variable_of(plugin, field),
            )
        )
    return tuple(fields)


def secret_texts(value: Struct) -> Iterator[str]:
    """Every text in the secret fields of a plugin's settings."""
    for field in _inspected(type(value)):
        if _is_secret(field):
            yield from texts(msgspec.to_builtins(getattr(value, field.name)))


def texts(value: object) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(members, Iterable) and not isinstance(members, str):
        for member in members:
            yield from texts(member)


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text with a mask in the place of each secret."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def shown(value: object, *, secret: bool) -> Any:
    """A value as JSON for display; a secret that is set is masked."""
    if secret:
        return MASK if value else None
    return msgspec.to_builtins(value)


def variable(plugin: str, field: str) -> str:
    """The process variable of a setting: ``PLUGIN_<NAME>_<FIELD>``."""
    return prefix(plugin) + field.upper()


def variable_of(plugin: str, field: inspect.Field) -> str:
    """The variable that the annotation names, else the usual one. Raises Unsound."""
    named = next(_extras(field.type, VARIABLE), None)
    if named is None:
        return variable(plugin, field.name)
    if not isinstance(named, str) or not _VARIABLE.fullmatch(named):
        raise Unsound(f"{field.name!r} names a process variable that cannot be its own")
    return named


def prefix(plugin: str) -> str:
    """What the variables of a plugin begin with."""
    return f"PLUGIN_{re.sub('[-.]', '_', plugin).upper()}_"


def schema(declared: Declared) -> dict[str, Any]:
    """The JSON Schema of a document of these settings, without the defaults of secrets."""
    document = msgspec.json.schema(declared.struct)
    properties = document["$defs"][document["$ref"].removeprefix(_REFERENCE)]["properties"]
    for name in declared.secrets:
        properties[name]["writeOnly"] = True
        properties[name].pop("default", None)
    return {"$schema": DIALECT, **document}


def _faults(plugin: str, struct: type[Struct]) -> Iterator[str]:
    form = struct.__struct_config__
    if not form.frozen:
        yield "the struct is not frozen"
    if form.array_like or form.tag is not None:
        yield "the struct is no plain JSON object: it is array_like or has a tag"
    variables: dict[str, str] = {}
    every = msgspec.structs.fields(struct)
    if len(every) > MOST_FIELDS:
        yield f"there are more than {MOST_FIELDS} fields"
    for field in every:
        if field.default is NODEFAULT and field.default_factory is NODEFAULT:
            yield f"{field.name!r} has no default"
        if not _NAME.fullmatch(field.encode_name):
            yield f"{field.encode_name!r} is no name for a setting"
        other = variables.setdefault(variable(plugin, field.name), field.name)
        if other != field.name:
            yield f"{field.name!r} and {other!r} have one process variable"


def _inspected(struct: type[Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def _is_secret(field: inspect.Field, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a field is one, or has one inside."""
    marks = list(_extras(field.type, SECRET))
    if marks:
        return any(marks)
    return is_secret(field.encode_name) or any(
        _is_secret(inner, seen | {id(field)})
        for inner in _inner_fields(field.type)
        if id(inner) not in seen
    )


def _extras(kind: object, name: str) -> Iterator[object]:
    """What the annotations of a type say of ``name``, without those of fields inside it."""
    if isinstance(kind, inspect.Metadata) and name in (kind.extra or {}):
        yield (kind.extra or {})[name]
    for part in _parts(kind):
        if not isinstance(part, inspect.Field):
            yield from _extras(part, name)


def _inner_fields(kind: object) -> Iterator[inspect.Field]:
    for part in _parts(kind):
        if isinstance(part, inspect.Field):
            yield part
        else:
            yield from _inner_fields(part)


def _parts(kind: object) -> Iterator[object]:
    """The types and fields that a type directly consists of."""
    if isinstance(kind, inspect.Type):
        for name in kind.__struct_fields__:
            value = getattr(kind, name)
            yield from value if isinstance(value, tuple) else (value,)


def _words(member: Schema, others: Mapping[str, Schema]) -> str:
    if "$ref" in member:
        other = others[member["$ref"].removeprefix(_REFERENCE)]
        return "object" if "properties" in other else _words(other, others)
    if "enum" in member:
        return " or ".join(msgspec.json.encode(value).decode() for value in member["enum"])
    if "anyOf" in member:
        return " or ".join(_words(each, others) for each in member["anyOf"])
    if isinstance(member.get("items"), Mapping) and member["items"]:
        return f"list of {_words(member['items'], others)}"
    return str(member.get("type", "anything"))
