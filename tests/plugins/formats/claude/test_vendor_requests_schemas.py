"""JSON schemas that the vendor can hold an answer to."""

import json
from typing import Any

import pytest
from gateway_format_claude.vendor_requests.schemas import fit_schema
from msgspec import Raw


def fitted(schema: Any) -> tuple[Any, bool]:
    written, whole = fit_schema(Raw(json.dumps(schema).encode()))
    return json.loads(bytes(written)), whole


OPEN = {"type": "object", "properties": {}}
CLOSED = {**OPEN, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (CLOSED, CLOSED),
        (OPEN, CLOSED),
        ({"properties": {}}, {"properties": {}, "additionalProperties": False}),
        ({"type": ["object", "null"]}, {"type": ["object", "null"], "additionalProperties": False}),
        ({"$schema": "x", "type": "string"}, {"type": "string"}),
        ({"oneOf": [OPEN]}, {"anyOf": [CLOSED]}),
        ({"allOf": [OPEN], "$defs": {"a": OPEN}}, {"allOf": [CLOSED], "$defs": {"a": CLOSED}}),
        ({"type": "array", "items": OPEN}, {"type": "array", "items": CLOSED}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "array", "minItems": 1}, {"type": "array", "minItems": 1}),
        (
            {"type": "object", "properties": {"minimum": {"type": "string", "enum": ["a"]}}},
            {
                "type": "object",
                "properties": {"minimum": {"type": "string", "enum": ["a"]}},
                "additionalProperties": False,
            },
        ),
        (True, True),
        ("x", "x"),
    ],
)
def test_a_schema_that_can_be_held_to(schema: Any, expected: Any) -> None:
    assert fitted(schema) == (expected, True)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "integer", "minimum": 1, "description": "A number"},
            {"type": "integer", "description": "A number\n\n{minimum: 1}"},
        ),
        (
            {"type": "string", "format": "color", "pattern": "a+"},
            {"type": "string", "description": '{format: "color", pattern: "a+"}'},
        ),
        ({"type": "array", "minItems": 2}, {"type": "array", "description": "{minItems: 2}"}),
        ({**OPEN, "additionalProperties": True}, CLOSED),
        (
            {"type": "string", "nullable": True},
            {"type": "string", "description": "{nullable: true}"},
        ),
    ],
)
def test_what_cannot_be_enforced_is_told_in_words(schema: Any, expected: Any) -> None:
    assert fitted(schema) == (expected, False)


def test_a_schema_too_deep_or_broken_is_left_alone() -> None:
    deep = b'{"items":' * 400 + b"{}" + b"}" * 400
    broken = Raw(b'{"a":')

    assert fit_schema(Raw(deep))[0] == Raw(deep)
    assert fit_schema(broken) == (broken, True)
