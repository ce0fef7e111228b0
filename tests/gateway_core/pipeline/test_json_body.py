"""A body's members keep their bytes."""

import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import provider, target

from gateway_core import BadRequest, Model
from gateway_core.pipeline.json_body import LONG, fitted, members_of, with_model

SPELLINGS = [b"12345678901234567890123", b"1.0", b"1e2", b"-0", b"1E+400", b'"\\u00e9\\/\\n"']
SPELLINGS += [b'"\xc3\xa9"', b"[ 1 , 2.50 ]", b'{"b": 1.0, "b": 2, "a": null}', b"true", b"null"]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("value", SPELLINGS, ids=range(len(SPELLINGS)))
def test_a_value_keeps_its_bytes(value: bytes) -> None:
    body = b'{ "x" : ' + value + b' , "model":"m"}'

    assert fitted(members_of(body), target()) == b'{"x":' + value + b',"model":"m"}'


@given(st.dictionaries(st.text().filter(lambda name: name[:1] != "_"), values, max_size=5))
def test_any_object_means_the_same_afterwards(body: dict[str, object]) -> None:
    written = json.dumps(body).encode()

    assert json.loads(fitted(members_of(written), target())) == json.loads(written)


@given(st.dictionaries(st.text(), values, max_size=5), st.booleans())
def test_a_long_body_is_written_as_a_short_one(body: dict[str, object], is_renamed: bool) -> None:
    written = json.dumps(body).encode()
    whom = target(provider("p", rename={"a": "b"}, drop=("c",))) if is_renamed else target()

    assert fitted(members_of(written), whom, LONG) == fitted(members_of(written), whom)


def test_a_long_body_takes_no_more_than_its_length() -> None:
    body = b'{"model":"m","x":"' + b"x" * 4 * LONG + b'"}'
    members = members_of(body)

    tracemalloc.start()
    fitted(members, target(), len(body))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 1.1 * len(body)


def test_of_a_repeated_member_the_last_is_read_and_only_that_is_sent() -> None:
    members = members_of(b'{"model":"a","x":1,"model":"b"}')

    assert bytes(members["model"]) == b'"b"'
    assert fitted(members, target()) == b'{"model":"b","x":1}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"{",
        b'{"a":1}x',
        b'{"a":}',
        b'{"a":"\\ud800"}',
        b"\xff",
        b'{"\xff":1}',
        b'{"a":' + b"[" * 100000,
    ],
    ids=range(11),
)
def test_anything_but_an_object_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest, match="Invalid JSON body"):
        members_of(body)


def test_a_vendor_gets_its_own_names_and_nothing_that_it_rejects() -> None:
    spec = provider("acme", drop=("user",), rename={"max_tokens": "limit"})
    model = Model("m", unsupported=("top_k",))
    body = b'{"user":"u","max_tokens":1.0,"top_k":3,"_mine":1,"x":2}'

    assert fitted(members_of(body), target(spec, model)) == b'{"limit":1.0,"x":2}'


@given(st.text())
def test_the_vendors_model_is_named_in_its_place(name: str) -> None:
    members = with_model(members_of(b'{"model":"a","x":1}'), name)

    assert list(members) == ["model", "x"]
    assert msgspec.json.decode(members["model"]) == name
