"""Making a JSON schema fit for constrained answers.

The vendor compiles schemas of a subset: every object is closed, and bounds
such as ``minimum`` or ``maxLength`` are refused. What cannot be enforced is
moved into the description, where the model still reads it.

Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from .._dialect import Unreadable, encode, members_of, raw

_decode = msgspec.json.Decoder().decode

_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
)
_KEPT = frozenset(
    (
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "description",
        "title",
        "default",
    )
)
_SCHEMAS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "allOf")
_ANY_OBJECT = raw({"type": "object"})
_NAMED = ("$schema", "$id", "$comment")


def fitted_schema(schema: Raw) -> tuple[Raw, bool]:
    """The schema and whether nothing had to give; one that cannot be read stays as it is."""
    try:
        said = _decode(schema)
    except Unreadable:
        return schema, True
    if not isinstance(said, dict):
        return schema, True
    moved: list[str] = []
    try:
        fitted = _fit(said, moved)
    except RecursionError:
        return schema, False
    return (schema if fitted == said else raw(fitted)), not moved


def fitted_arguments(schema: Raw) -> tuple[Raw, bool]:
    """A tool's schema as this wire takes it, an object at its top, and whether it is whole."""
    try:
        said = members_of(schema)
    except Unreadable:
        return _ANY_OBJECT, False
    choices = [name for name in ("anyOf", "oneOf", "allOf") if name in said]
    typed = "type" in said and bytes(said["type"]) == b'"object"'
    if typed and not choices:
        return schema, True
    kept: dict[str, object] = {k: v for k, v in said.items() if k not in choices}
    return raw({**kept, "type": "object"}), not choices


def _fit(schema: Mapping[str, Any], moved: list[str]) -> dict[str, Any]:
    fitted = {name: value for name, value in schema.items() if name in _KEPT}
    if "oneOf" in schema:
        fitted["anyOf"] = schema["oneOf"]
    for name in _SCHEMAS:
        if isinstance(fitted.get(name), dict):
            fitted[name] = {k: _sub(v, moved) for k, v in fitted[name].items()}
    for name in _LISTS:
        if isinstance(fitted.get(name), list):
            fitted[name] = [_sub(item, moved) for item in fitted[name]]
    if isinstance(fitted.get("items"), dict):
        fitted["items"] = _sub(fitted["items"], moved)
    if "properties" in schema or _is_object(schema.get("type")):
        fitted["additionalProperties"] = False
        if schema.get("additionalProperties") not in (None, False):
            moved.append("additionalProperties")
    return _described(schema, fitted, moved)


def _sub(schema: object, moved: list[str]) -> object:
    return _fit(schema, moved) if isinstance(schema, dict) else schema


def _is_object(kind: object) -> bool:
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _described(
    schema: Mapping[str, Any], fitted: dict[str, Any], moved: list[str]
) -> dict[str, Any]:
    """Keep the limits that are enforced, and tell the others in words."""
    told: list[str] = []
    for name, value in schema.items():
        if name in _KEPT or name in _NAMED or name in ("oneOf", "additionalProperties"):
            continue
        if (name == "format" and value in _FORMATS) or (name == "minItems" and value in (0, 1)):
            fitted[name] = value
        else:
            told.append(f"{name}: {encode(value).decode()}")
    if told:
        moved += told
        words = f"{{{', '.join(told)}}}"
        own = fitted.get("description")
        fitted["description"] = f"{own}\n\n{words}" if isinstance(own, str) and own else words
    return fitted
