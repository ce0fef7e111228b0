"""A streamed call is made to report its usage, and the rest of its text stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_texts import objects, texts

from gateway_formats.json_text import JsonText
from gateway_native.reported_usage import usage_edits


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
