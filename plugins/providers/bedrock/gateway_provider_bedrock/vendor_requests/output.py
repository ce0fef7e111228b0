"""The form an answer must take: by a member of the request, or with words."""

from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Losses, Output

from .._shapes import BROKEN
from .media import Block
from .models import Traits

_AS_JSON = "Answer with one JSON object and nothing else."
_AS_SCHEMA = "Answer with one JSON value and nothing else. It must fit this JSON schema:\n"
_UNKNOWN = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "maxItems", "uniqueItems", "contains"),
        *("minProperties", "maxProperties", "patternProperties", "propertyNames"),
    )
)
"""Rules of a schema that the service refuses."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.encode


def write_form(
    output: Output | None, traits: Traits, losses: Losses
) -> tuple[dict[str, Any] | None, list[Block]]:
    """``outputConfig.textFormat``, and what to say in the system prompt in its stead."""
    if output is None:
        return None, []
    if output.schema is None:
        losses.add("output_json")
        return None, [{"text": _AS_JSON}]
    if not traits.structured:
        losses.add("output_schema")
        return None, [{"text": _AS_SCHEMA + bytes(output.schema).decode("utf-8", "replace")}]
    definition = {"schema": _fit_schema(output.schema, losses)}
    if output.name is not None:
        definition["name"] = output.name
    if output.description is not None:
        definition["description"] = output.description
    return {"type": "json_schema", "structure": {"jsonSchema": definition}}, []


def _fit_schema(schema: Raw, losses: Losses) -> str:
    """The schema's text, closed to members it does not name, without rules it may not have."""
    try:
        found = _decode(schema)
    except BROKEN:
        return bytes(schema).decode("utf-8", "replace")
    fitting = _close(found, losses)
    return bytes(schema).decode() if fitting == found else _encode(fitting).decode()


def _close(schema: Any, losses: Losses) -> Any:
    if isinstance(schema, list):
        return [_close(each, losses) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in _UNKNOWN}
    if len(kept) < len(schema):
        losses.add("output_schema")
    closed = {name: _close_keyword(name, value, losses) for name, value in kept.items()}
    # The service takes only schemas that are closed to further members.
    if "properties" in closed and closed.get("additionalProperties") is not False:
        closed["additionalProperties"] = False
    return closed


def _close_keyword(name: str, value: Any, losses: Losses) -> Any:
    """What stands under a keyword: schemas by name, values that are no schemas, or schemas."""
    if name in ("properties", "$defs", "definitions") and isinstance(value, dict):
        return {each: _close(schema, losses) for each, schema in value.items()}
    if name in ("enum", "const", "default", "examples", "required"):
        return value
    return _close(value, losses)
