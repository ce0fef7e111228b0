"""Editing a JSON text at the models' names leaves every other byte as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import BadRequest
from gateway_native.json_text import AmbiguousField, Edit, JsonText
from gateway_native.model_fields import find_models
from gateway_native.reported_usage import usage_edits

PLACES = (
    *("model", "session.model", "session.delegation.responses.model"),
    *("requests[].params.model", "tools[advisor*].model"),
)
AMBIGUOUS = "Ambiguous native model field"

space = st.text(" \t\n\r", max_size=2)
scalars = st.one_of(
    st.sampled_from(
        ["0", "-0.0", "1e5", "1E+05", "1.50", "12345678901234567890", "true", "false", "null"]
    ),
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(['"\\u006dodel"', '"\\/"', '"\\\\"', '"\\""', '"{"', '"]"', '"😀"']),
)
names = st.sampled_from(["a", "model", "tools", "requests", "params", "session", "prompt", "x y"])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """JSON in any spelling, no member of an object twice."""
    shape = draw(st.sampled_from(["scalar", "object", "list"])) if depth else "scalar"
    if shape == "scalar":
        return draw(space) + draw(scalars) + draw(space)
    inner = texts(depth - 1)
    if shape == "list":
        return draw(space) + "[" + ",".join(draw(st.lists(inner, max_size=3))) + "]" + draw(space)
    return draw(space) + draw(objects(inner)) + draw(space)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    members = [
        f"{draw(space)}{json.dumps(name)}{draw(space)}:{draw(inner)}"
        for name in draw(st.lists(names, max_size=4, unique=True))
    ]
    return "{" + ",".join(members) + (draw(space) if not members else "") + "}"


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


@given(objects(texts()), st.booleans())
def test_a_stream_is_made_to_report_its_usage_and_nothing_else_changes(
    text: str, is_streamed: bool
) -> None:
    value = json.loads(text)
    value.pop("stream", None)
    inner = text.rstrip()[:-1].rstrip()
    comma = "" if inner.endswith("{") else ","
    content = f'{inner}{comma}"stream":{json.dumps(is_streamed)}}}'.encode()
    read = JsonText(content)

    edited = json.loads(read.edited(usage_edits(read)))

    options = edited.pop("stream_options", None)
    assert edited == {**value, "stream": is_streamed}
    assert options == ({"include_usage": True} if is_streamed else None)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("null", '{"include_usage":true}'),
        ("{}", '{"include_usage":true}'),
        ('{ "a": 1.0 }', '{"include_usage":true, "a": 1.0 }'),
        ('{"include_usage": false}', '{"include_usage": true}'),
        ('{"include_usage" :true}', '{"include_usage" :true}'),
        ('"odd"', '{"include_usage":true}'),
    ],
)
def test_options_of_a_stream_keep_their_other_members(options: str, wanted: str) -> None:
    read = JsonText(f'{{"stream_options": {options} ,"stream":true}}'.encode())

    edited = read.edited(usage_edits(read))

    assert edited == f'{{"stream_options": {wanted} ,"stream":true}}'.encode()


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
        list(find_models(read, PLACES))


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
