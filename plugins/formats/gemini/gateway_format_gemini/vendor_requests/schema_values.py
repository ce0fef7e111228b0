"""What a schema says of types and values, and small schemas made of others."""

from typing import Any

import msgspec

from .schema_references import Schema

_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_OF_TYPE = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "object": frozenset({"properties", "required", "minProperties", "maxProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
}
_LONGEST_NOTE = 200

_encode = msgspec.json.encode


def any_value(texts: Schema | None = None) -> Schema:
    """Any value at all: the API has no keyword for it, so every type is named."""
    texts = texts or {}
    scalars = [{"type": each, **texts} for each in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]
    return {"anyOf": [*scalars, {"type": "ARRAY", **texts, "items": {"type": "STRING"}}]}


def resolve_const(flat: Schema) -> Schema:
    """``const`` as an enum of one, and an enum with the types of its values."""
    if "const" in flat:
        flat = {**flat, "enum": [flat["const"]]}
        del flat["const"]
    values = flat.get("enum")
    if "type" in flat or not isinstance(values, list) or {"anyOf", "oneOf"} & flat.keys():
        return flat
    types = list(dict.fromkeys(map(_json_type, values)))
    return {**flat, "type": types[0] if len(types) == 1 else types} if types else flat


def narrow(flat: Schema, kind: Any) -> Schema:
    """The part of a schema of several types that concerns one of them."""
    others = set().union(*(names for each, names in _OF_TYPE.items() if each != kind))
    narrowed = {name: value for name, value in flat.items() if name not in others}
    if isinstance(flat.get("enum"), list):
        types = (kind, "integer") if kind == "number" else (kind,)
        narrowed["enum"] = [value for value in flat["enum"] if _json_type(value) in types]
        if not narrowed["enum"]:
            del narrowed["enum"]
    narrowed.pop("nullable", None)
    return {**narrowed, "type": kind}


def join_enums(branches: list[Schema]) -> list[str] | None:
    """The strings of alternatives that are nothing but enums of strings."""
    words: list[str] = []
    for each in branches:
        branch = resolve_const(each)
        if branch.keys() - {"type", "enum", "title"} or branch.get("type") != "string":
            return None
        if not isinstance(branch.get("enum"), list) or not all(branch["enum"]):
            return None
        words += branch["enum"]
    return list(dict.fromkeys(words))


def make_nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [make_nullable(each) for each in schema["anyOf"]]}
    return schema if schema.get("type") == "NULL" else {**schema, "nullable": True}


def join_any_of(branches: list[Schema]) -> Schema:
    """One of several schemas, as short as possible."""
    flat: list[Schema] = []
    for each in branches:
        flat += [one for one in each.get("anyOf", [each]) if one not in flat]
    others = [one for one in flat if one.get("type") != "NULL"]
    if not others:
        return flat[0]
    joined: Schema = others[0] if len(others) == 1 else {"anyOf": others}
    return joined if len(others) == len(flat) else make_nullable(joined)


def add_notes(schema: Schema, notes: Schema) -> Schema:
    """Put what could not be declared into the description."""
    texts = [f"{name}: {_encode(value).decode()}" for name, value in notes.items()]
    short = [text for text in texts if len(text) <= _LONGEST_NOTE]
    if not short:
        return schema
    note = f"({'; '.join(short)})"
    description = schema.get("description")
    return {**schema, "description": f"{description} {note}" if description else note}


def type_of(flat: Schema) -> str | None:
    kind = flat.get("type")
    if isinstance(kind, str) and kind.lower() in _TYPES:
        return kind.lower()
    if isinstance(kind, list):
        return "null"
    # Without a type, its keywords tell which one is meant.
    if "properties" in flat or "required" in flat:
        return "object"
    if "items" in flat or "prefixItems" in flat:
        return "array"
    if "pattern" in flat or "minLength" in flat or "maxLength" in flat:
        return "string"
    return "number" if "minimum" in flat or "maximum" in flat else None


def is_null(branch: Schema) -> bool:
    return (
        branch.get("type") == "null"
        or branch.get("enum") == [None]
        or ("const" in branch and branch["const"] is None)
    )


def is_typed(branch: Schema) -> bool:
    return bool({"type", "$ref", "enum", "const", "properties", "items"} & branch.keys()) or bool(
        {"anyOf", "oneOf", "allOf"} & branch.keys()
    )


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    return is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def covers_all(kind: str, values: list[Any]) -> bool:
    """Whether bounds, or the type, already say exactly these values."""
    if kind == "BOOLEAN":
        return True in values and False in values
    if kind != "INTEGER" or not all(isinstance(value, int) for value in values):
        return False
    return bool(len(set(values)) == max(values) - min(values) + 1)
