"""Editing a JSON text at the models' names leaves every other byte as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from json_texts import objects, texts

from gateway_core import BadRequest
from gateway_formats.json_text import AmbiguousField, Edit, JsonText
from gateway_formats.model_fields import find_models

PLACES = (
    *("model", "session.model", "session.delegation.responses.model"),
    *("requests[].params.model", "tools[advisor*].model"),
)
CONTROLS = frozenset({"background", "stream"})
AMBIGUOUS = "Ambiguous native model field"


def models_of(value: Any, place: str) -> list[Any]:
    """The names at a place, looked up in the decoded value."""
    word, _, rest = place.partition(".")
    name, _, marks = word.partition("[")
    if not isinstance(value, dict) or value.get(name) is None:
        return []
    found = value[name]
    if not rest:
        return [found]
    if not marks:
        return models_of(found, rest)
    kind = marks.rstrip("]*")
    elements = [
        each
        for each in (found if isinstance(found, list) else [])
        if isinstance(each, dict) and str(each.get("type", "")).startswith(kind)
    ]
    return [model for each in elements for model in models_of(each, rest)]


@given(objects(texts()))
def test_the_models_are_found_where_decoding_finds_them(text: str) -> None:
    content = text.encode()
    read = JsonText(content)
    found = [(field.place, read.read(field.span)) for field in find_models(read, PLACES)]

    value = json.loads(text)
    for place in PLACES:
        assert [name for at, name in found if at == place] == models_of(value, place)


@given(objects(texts()))
def test_bytes_outside_the_edited_names_stay(text: str) -> None:
    content = text.encode()
    read = JsonText(content)
    fields = [f for f in find_models(read, PLACES) if isinstance(read.read(f.span), str)]
    spans = sorted((field.span for field in fields), key=lambda span: span.begin)

    edited = read.edited([Edit(span.begin, span.end, b'"new"') for span in spans])

    kept, at = [], 0
    for span in spans:
        kept.append(content[at : span.begin])
        at = span.end
    assert edited == b'"new"'.join((*kept, content[at:]))
    again = JsonText(edited)
    assert [again.read(f.span) for f in find_models(again, PLACES) if f.place in PLACES].count(
        "new"
    ) >= len(spans)


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"a","model":"b"}',
        '{"model":"a","mod\\u0065l":"b"}',
        '{"model":"a","Model":"b"}',
        '{"MODEL":"b"}',
        '{"session":{"model":"a"},"session":{}}',
        '{"session":{"model":"a","model":"a"}}',
        '{"session":{"delegation":{"responses":{"model":"a","model":"b"}}}}',
        '{"tools":[{"type":"function","type":"advisor_1","model":"b"}]}',
        '{"tools":[{"Type":"advisor_1","model":"b"}]}',
        '{"requests":[{"params":{"model":"a"}},{"params":{"model":"a","model":"b"}}]}',
        '{"stream":false,"stream":true}',
        '{"Background":true}',
        '{"background":false,"background":true}',
    ],
)
def test_a_member_that_two_readers_could_take_for_another_is_refused(text: str) -> None:
    read = JsonText(text.encode())

    with pytest.raises(AmbiguousField, match=AMBIGUOUS):
        list(find_models(read, PLACES, CONTROLS))


def test_a_prompt_may_hold_what_it_likes() -> None:
    text = (
        '{"input":[{"model":"x","model":"y"}],"tools":[{"type":"function","parameters":'
        '{"properties":{"model":{"type":"string"}},"model":1}}],"model":"a"}'
    )
    read = JsonText(text.encode())

    assert [read.read(field.span) for field in find_models(read, PLACES)] == ["a"]


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{",
            b"[]",
            b'"model"',
            b"null",
            b'{"a":1,}',
            b'{"a":NaN}',
            b"\xff",
            b'{"a":"\xff"}',
        ),
        *(b"[" * 100_000, b'{"a":' * 100_000, b'{"a":1}{"b":2}', b"{'a':1}", b'{"a":01}'),
    ],
)
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(BadRequest, match="Invalid JSON body"):
        JsonText(content)
