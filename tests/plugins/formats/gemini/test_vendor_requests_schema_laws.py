"""Laws: no schema becomes one that the vendor refuses, and reading and rewriting agree."""

from typing import Any

import msgspec
from gateway_format_gemini.client_requests.schemas import read_schema
from gateway_format_gemini.vendor_requests.schemas import parameters_schema
from hypothesis import given, settings
from hypothesis import strategies as st

KNOWN = {
    *("type", "format", "title", "description", "nullable", "default", "items", "minItems"),
    *("maxItems", "enum", "properties", "propertyOrdering", "required", "minProperties"),
    *("maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "example"),
    "anyOf",
}
"""Every keyword of the vendor's Schema."""


def rewritten(schema: Any) -> tuple[Any, list[str]]:
    made = parameters_schema(msgspec.json.encode(schema))
    return made.schema and msgspec.json.decode(made.schema), list(made.dropped)


def objections(schema: Any, where: str = "") -> list[str]:
    """What the vendor would refuse a schema for."""
    if not isinstance(schema, dict):
        return [f"{where} is no schema"]
    found = [f"{where}.{name}" for name in schema if name not in KNOWN]
    if "anyOf" in schema:
        found += [f"{where}.{name} beside anyOf" for name in schema if name != "anyOf"]
        for number, each in enumerate(schema["anyOf"]):
            found += objections(each, f"{where}.anyOf[{number}]")
        return found
    written = schema.get("type")
    if written not in ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"):
        found.append(f"{where}.type {written}")
    if "enum" in schema and (written != "STRING" or not all(map(is_word, schema["enum"]))):
        found.append(f"{where}.enum")
    if written == "ARRAY":
        found += objections(schema.get("items"), f"{where}.items")
    properties = schema.get("properties", {})
    if not set(schema.get("required", [])) <= set(properties):
        found.append(f"{where}.required")
    for name, each in properties.items():
        found += objections(each, f"{where}.{name}")
    return found


def is_word(value: object) -> bool:
    return isinstance(value, str) and value != ""


WORD = st.sampled_from(["a", "b", ""])


VALUE = st.none() | st.booleans() | st.integers(-9, 9) | WORD | st.floats(-2, 2)


TYPE = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null", "x"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPE | st.lists(TYPE, max_size=3),
            "properties": st.dictionaries(WORD, inner, max_size=2),
            "required": st.lists(WORD, max_size=2),
            "items": inner | st.lists(inner, max_size=2),
            "prefixItems": st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "enum": st.lists(VALUE, max_size=3),
            "const": VALUE,
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "y", ""]),
            "format": WORD | st.just("date-time"),
            "minimum": VALUE,
            "exclusiveMinimum": VALUE,
            "minLength": VALUE,
            "pattern": WORD,
            "additionalProperties": inner,
            "default": VALUE,
            "nullable": st.booleans(),
            "not": inner,
            "$schema": WORD,
        },
    )


SCHEMA = st.recursive(st.booleans() | st.just({}) | schemas(st.just({})), schemas, max_leaves=6)


@settings(max_examples=200)
@given(SCHEMA, st.dictionaries(WORD, SCHEMA, max_size=2))
def test_no_schema_becomes_one_that_the_vendor_refuses(schema: Any, defs: Any) -> None:
    whole = {"type": "object", "properties": {"p": schema}, "$defs": defs}

    made, _ = rewritten(whole)

    assert objections(made) == []
    assert made["type"] == "OBJECT"


@settings(max_examples=150)
@given(SCHEMA)
def test_rewriting_what_was_read_changes_nothing(schema: Any) -> None:
    once = parameters_schema(
        msgspec.json.encode({"type": "object", "properties": {"p": schema, "q": True}})
    )
    assert once.schema is not None

    plain = read_schema(once.schema)
    again = parameters_schema(plain)

    assert again.dropped == ()
    assert msgspec.json.decode(again.schema or b"null") == msgspec.json.decode(once.schema)
    assert msgspec.json.decode(read_schema(again.schema or b"null")) == msgspec.json.decode(plain)
