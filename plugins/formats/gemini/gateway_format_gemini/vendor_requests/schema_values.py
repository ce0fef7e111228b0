"""Small questions about schemas and the values they name, asked while one is rewritten."""

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


def anything(told: Schema | None = None) -> Schema:
    """Any value at all: the API has no word for it, so every type is named."""
    told = told or {}
    scalars = [{"type": each, **told} for each in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]
    return {"anyOf": [*scalars, {"type": "ARRAY", **told, "items": {"type": "STRING"}}]}


def valued(flat: Schema) -> Schema:
    """``const`` is an enum of one, and an enum tells its types."""
    if "const" in flat:
        flat = {**flat, "enum": [flat["const"]]}
        del flat["const"]
    given = flat.get("enum")
    if "type" in flat or not isinstance(given, list) or {"anyOf", "oneOf"} & flat.keys():
        return flat
    types = list(dict.fromkeys(map(_json_type, given)))
    return {**flat, "type": types[0] if len(types) == 1 else types} if types else flat


def of_type(flat: Schema, said: Any) -> Schema:
    """The part of a schema of several types that concerns one of them."""
    others = set().union(*(names for each, names in _OF_TYPE.items() if each != said))
    made = {name: value for name, value in flat.items() if name not in others}
    if isinstance(flat.get("enum"), list):
        made["enum"] = [value for value in flat["enum"] if _is_of(value, said)]
        if not made["enum"]:
            del made["enum"]
    made.pop("nullable", None)
    return {**made, "type": said}


def shared_words(branches: list[Schema]) -> list[str] | None:
    """The words of alternatives that are nothing but words."""
    words: list[str] = []
    for each in branches:
        said = valued(each)
        if said.keys() - {"type", "enum", "title"} or said.get("type") != "string":
            return None
        if not isinstance(said.get("enum"), list) or not all(said["enum"]):
            return None
        words += said["enum"]
    return list(dict.fromkeys(words))


def as_nullable(made: Schema) -> Schema:
    if "anyOf" in made:
        return {**made, "anyOf": [as_nullable(each) for each in made["anyOf"]]}
    return made if made.get("type") == "NULL" else {**made, "nullable": True}


def either(several: list[Schema]) -> Schema:
    """One of several schemas, as short as it can be said."""
    flat: list[Schema] = []
    for each in several:
        flat += [one for one in each.get("anyOf", [each]) if one not in flat]
    plain = [one for one in flat if one.get("type") != "NULL"]
    if not plain:
        return flat[0]
    made: Schema = plain[0] if len(plain) == 1 else {"anyOf": plain}
    return made if len(plain) == len(flat) else as_nullable(made)


def noted(made: Schema, notes: Schema) -> Schema:
    """What could not be declared, told in the description."""
    told = [f"{name}: {_encode(value).decode()}" for name, value in notes.items()]
    short = [note for note in told if len(note) <= _LONGEST_NOTE]
    if not short:
        return made
    said = f"({'; '.join(short)})"
    description = made.get("description")
    return {**made, "description": f"{description} {said}" if description else said}


def type_of(flat: Schema) -> str | None:
    said = flat.get("type")
    if isinstance(said, str) and said.lower() in _TYPES:
        return said.lower()
    if isinstance(said, list):
        return "null"
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


def _is_of(value: Any, said: Any) -> bool:
    found = _json_type(value)
    return found == said or (found == "integer" and said == "number")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    return is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def is_run(said: str, values: list[Any]) -> bool:
    """Whether bounds, or the type, already say exactly these values."""
    if said == "BOOLEAN":
        return True in values and False in values
    if said != "INTEGER" or not all(isinstance(value, int) for value in values):
        return False
    return bool(len(set(values)) == max(values) - min(values) + 1)
