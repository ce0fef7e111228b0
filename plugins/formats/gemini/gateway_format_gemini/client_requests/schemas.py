"""From the API's own schema language, a cut-down OpenAPI 3.0, to JSON Schema.

Types are lower-cased, ``nullable`` becomes a null type, numbers that
protocol buffers write as strings become numbers again.
"""

from typing import Any

import msgspec

from .._members import camel
from .._schema_cache import remembered

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


def json_schema(schema: bytes) -> bytes:
    """The JSON Schema that says the same as an OpenAPI schema."""
    return remembered(_json_schema, schema)


def _json_schema(schema: bytes) -> bytes:
    return _encode(_read(msgspec.json.decode(schema), 0))


def _read(node: Any, depth: int) -> Any:
    if not isinstance(node, dict) or depth > _DEEPEST:
        return node
    schema = {_known(name): value for name, value in node.items() if _is_said(name, value)}
    _type(schema)
    for name in _COUNTS:
        said = schema.get(name)
        if isinstance(said, str) and said.isdigit():
            schema[name] = int(said)
    if schema.get("format") == "enum":
        del schema["format"]
    if "example" in schema:
        schema["examples"] = [schema.pop("example")]
    _children(schema, depth + 1)
    _ordering(schema)
    if schema.pop("nullable", None) is True:
        _nullable(schema)
    return schema


def _is_said(name: str, value: Any) -> bool:
    """Null is nothing said, but a default may well be null."""
    return value is not None or name == "default"


def _known(name: str) -> str:
    """Keywords may be in snake case; everything else keeps its name."""
    spelled = camel(name)
    return spelled if spelled in _NAMES else name


def _type(schema: dict[str, Any]) -> None:
    said = schema.get("type")
    if isinstance(said, int) and not isinstance(said, bool):
        said = _TYPES.get(said, "")
    if isinstance(said, str):
        schema["type"] = said.lower()
        if said in ("", "TYPE_UNSPECIFIED"):
            del schema["type"]


def _children(schema: dict[str, Any], depth: int) -> None:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {name: _read(each, depth) for name, each in properties.items()}
    for name in ("items", "additionalProperties"):
        if name in schema:
            schema[name] = _read(schema[name], depth)
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(schema.get(name), list):
            schema[name] = [_read(each, depth) for each in schema[name]]


def _ordering(schema: dict[str, Any]) -> None:
    """Leave out an order that the properties have anyway."""
    properties, order = schema.get("properties"), schema.get("propertyOrdering")
    if isinstance(properties, dict) and order == list(properties):
        del schema["propertyOrdering"]


def _nullable(schema: dict[str, Any]) -> None:
    said = schema.get("type")
    if isinstance(said, str) and said != "null":
        schema["type"] = [said, "null"]
    elif isinstance(schema.get("anyOf"), list) and {"type": "null"} not in schema["anyOf"]:
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
