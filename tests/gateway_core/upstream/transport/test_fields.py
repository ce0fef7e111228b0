"""Header fields of an answer."""

import pytest

from gateway_core.upstream.transport.fields import Fields

RAW = [(b"Content-Type", b"text/plain"), (b"Via", b"a"), (b"VIA", b"b"), (b"X-Name", b"gr\xfcn")]


def test_fields_are_found_by_their_lower_case_name():
    fields = Fields(RAW)

    assert fields["content-type"] == "text/plain"
    assert fields.get("Content-Type") is None
    assert fields.get("x-name") == "grün"
    with pytest.raises(KeyError):
        fields["missing"]


def test_a_repeated_field_is_joined():
    assert Fields(RAW)["via"] == "a, b"


def test_fields_are_a_mapping():
    assert dict(Fields(RAW)) == {"content-type": "text/plain", "via": "a, b", "x-name": "grün"}
    assert len(Fields(RAW)) == 3
    assert list(Fields(())) == []
