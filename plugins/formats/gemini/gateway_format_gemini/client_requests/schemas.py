"""Reads the API's own schema language, a subset of OpenAPI 3.0, as JSON Schema.

https://ai.google.dev/api/caching#Schema
"""

from typing import Any

import msgspec

from .._members import to_camel
from .._schema_cache import remember

_TYPES = {
    1: "string",
    2: "number",
    3: "integer",
    4: "boolean",
    5: "array",
    6: "object",
    7: "null",
}
_NAMES = frozenset(
    {
        "anyOf",
        "oneOf",
        "allOf",
        "prefixItems",
        "additionalProperties",
        "propertyOrdering",
        *(f"{end}{of}" for end in ("min", "max") for of in ("Items", "Length", "Properties")),
    }
)
_COUNTS = tuple(f"{end}{of}" for end in ("min", "max") for of in ("Items", "Length", "Properties"))
_DEEPEST = 100

_encode = msgspec.json.encode


def read_schema(schema: bytes) -> bytes:
    """The JSON Schema that says the same as an OpenAPI schema."""
    return remember(convert_schema, schema)


def convert_schema(schema: bytes) -> bytes:
    return _encode(_read(msgspec.json.decode(schema), 0))


def _read(node: Any, depth: int) -> Any:
    if not isinstance(node, dict) or depth > _DEEPEST:
        return node
    schema: dict[str, Any] = {}
    for name, value in node.items():
        # Null counts as absent, but a default may well be null.
        if value is not None or name == "default":
            # Keywords may be in snake case; everything else keeps its name.
            spelled = to_camel(name)
            schema[spelled if spelled in _NAMES else name] = value
    kind = schema.get("type")
    if isinstance(kind, int) and not isinstance(kind, bool):
        kind = _TYPES.get(kind, "")
    if isinstance(kind, str):
        schema["type"] = kind.lower()
        if kind in ("", "TYPE_UNSPECIFIED"):
            del schema["type"]
    for name in _COUNTS:
        count = schema.get(name)
        # These are int64, which protocol buffers write as strings.
        if isinstance(count, str) and count.isdigit():
            schema[name] = int(count)
    # On this API an enum of strings has the format ``enum``, which JSON Schema does not know.
    if schema.get("format") == "enum":
        del schema["format"]
    if "example" in schema:
        schema["examples"] = [schema.pop("example")]
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {name: _read(each, depth + 1) for name, each in properties.items()}
        # An order that the properties have anyway is left out.
        if schema.get("propertyOrdering") == list(properties):
            del schema["propertyOrdering"]
    for name in ("items", "additionalProperties"):
        if name in schema:
            schema[name] = _read(schema[name], depth + 1)
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(schema.get(name), list):
            schema[name] = [_read(each, depth + 1) for each in schema[name]]
    if schema.pop("nullable", None) is True:
        _add_null(schema)
    return schema


def _add_null(schema: dict[str, Any]) -> None:
    """JSON Schema has a null type in place of ``nullable``."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "null":
        schema["type"] = [kind, "null"]
    elif isinstance(schema.get("anyOf"), list) and {"type": "null"} not in schema["anyOf"]:
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
