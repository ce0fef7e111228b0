"""Makes a JSON schema fit for constrained answers.

The vendor compiles schemas of a subset: every object is closed, and bounds such as ``minimum`` or
``maxLength`` are refused. What cannot be enforced is moved into the description, where the model
still reads it.
https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from .._dialect import Unreadable, decode_members, encode, encode_raw

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
_ANY_OBJECT = encode_raw({"type": "object"})
_NAMED = ("$schema", "$id", "$comment")


def fit_schema(schema: Raw) -> tuple[Raw, bool]:
    """The schema and whether it is unchanged in meaning; an unreadable one stays as it is."""
    try:
        original = _decode(schema)
    except Unreadable:
        return schema, True
    if not isinstance(original, dict):
        return schema, True
    moved: list[str] = []
    try:
        fitted = _fit(original, moved)
    except RecursionError:
        return schema, False
    return (schema if fitted == original else encode_raw(fitted)), not moved


def fit_arguments(schema: Raw) -> tuple[Raw, bool]:
    """A tool's schema as this wire takes it, an object at its top, and whether it is whole."""
    try:
        members = decode_members(schema)
    except Unreadable:
        return _ANY_OBJECT, False
    # The vendor refuses alternatives at the top of input_schema.
    choices = [name for name in ("anyOf", "oneOf", "allOf") if name in members]
    is_object = "type" in members and bytes(members["type"]) == b'"object"'
    if is_object and not choices:
        return schema, True
    kept: dict[str, object] = {k: v for k, v in members.items() if k not in choices}
    return encode_raw({**kept, "type": "object"}), not choices


def _fit(schema: Mapping[str, Any], moved: list[str]) -> dict[str, Any]:
    """``moved`` collects what goes into descriptions."""
    fitted = {name: value for name, value in schema.items() if name in _KEPT}
    if "oneOf" in schema:
        fitted["anyOf"] = schema["oneOf"]
    for name in _SCHEMAS:
        if isinstance(fitted.get(name), dict):
            fitted[name] = {k: _fit_value(v, moved) for k, v in fitted[name].items()}
    for name in _LISTS:
        if isinstance(fitted.get(name), list):
            fitted[name] = [_fit_value(item, moved) for item in fitted[name]]
    if "items" in fitted:
        fitted["items"] = _fit_value(fitted["items"], moved)
    kind = schema.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    if "properties" in schema or is_object:
        fitted["additionalProperties"] = False
        if schema.get("additionalProperties") not in (None, False):
            moved.append("additionalProperties")
    limits: list[str] = []
    for name, value in schema.items():
        if name in _KEPT or name in _NAMED or name in ("oneOf", "additionalProperties"):
            continue
        # Of minItems the vendor enforces 0 and 1.
        if (name == "format" and value in _FORMATS) or (name == "minItems" and value in (0, 1)):
            fitted[name] = value
        else:
            limits.append(f"{name}: {encode(value).decode()}")
    if limits:
        moved += limits
        note = f"{{{', '.join(limits)}}}"
        own = fitted.get("description")
        fitted["description"] = f"{own}\n\n{note}" if isinstance(own, str) and own else note
    return fitted


def _fit_value(schema: object, moved: list[str]) -> object:
    return _fit(schema, moved) if isinstance(schema, dict) else schema
