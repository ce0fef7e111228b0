"""The form an answer must take: by a member of the request, or with words."""

from typing import Any

import msgspec

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
    text = bytes(output.schema).decode("utf-8", "replace")
    try:
        schema = _decode(output.schema)
    except BROKEN:
        pass  # the vendor says what is wrong with it
    else:
        closed = _close(schema, losses)
        text = text if closed == schema else _encode(closed).decode()
    definition = {"schema": text}
    if output.name is not None:
        definition["name"] = output.name
    if output.description is not None:
        definition["description"] = output.description
    return {"type": "json_schema", "structure": {"jsonSchema": definition}}, []


def _close(schema: Any, losses: Losses) -> Any:
    """A schema without the refused rules, closed to members that it does not name."""
    if isinstance(schema, list):
        return [_close(each, losses) for each in schema]
    if not isinstance(schema, dict):
        return schema
    accepted = {name: value for name, value in schema.items() if name not in _UNKNOWN}
    if len(accepted) < len(schema):
        losses.add("output_schema")
    closed: dict[str, Any] = {}
    for name, value in accepted.items():
        if name in ("properties", "$defs", "definitions") and isinstance(value, dict):
            closed[name] = {each: _close(inner, losses) for each, inner in value.items()}
        # Values under these keywords are no schemas.
        elif name in ("enum", "const", "default", "examples", "required"):
            closed[name] = value
        else:
            closed[name] = _close(value, losses)
    # The service takes only schemas that are closed to further members.
    if "properties" in closed and closed.get("additionalProperties") is not False:
        closed["additionalProperties"] = False
    return closed
