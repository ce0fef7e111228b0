"""Inputs: every row is read where it stands, and nothing but rows."""

import io
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_batches.input_rows import (
    Place,
    RowReader,
    check_input,
    read_lines,
    read_row,
    write_rows,
)

CHAT = "/v1/chat/completions"
LONGEST = 10_000
IDS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12, unique=True)
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
BODIES = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)


@given(IDS, BODIES, st.booleans(), st.integers(1, 5))
def test_what_is_written_is_read_row_by_row(
    ids: list[str], body: dict[str, Any], is_pretty: bool, most: int
) -> None:
    text = msgspec.json.encode(body)
    if is_pretty:
        text = msgspec.json.format(text, indent=2)
    file = io.BytesIO(b"".join(write_rows([(id, Raw(text)) for id in ids], CHAT)))
    reader = RowReader(file, CHAT, LONGEST)

    checked = check_input(file, CHAT, LONGEST)
    place, found = Place(1, 0), []
    while True:
        rows, place = reader.take(place, most)
        found += rows
        if len(rows) < most:
            break

    assert checked is not None
    assert (checked.total, checked.errors) == (len(ids), ())
    assert [row.custom_id for _, row in found] == ids
    assert [under_way.line for under_way, _ in found] == list(range(1, len(ids) + 1))
    for under_way, row in found:
        assert msgspec.json.decode(row.body) == body
        assert reader.read(under_way).custom_id == row.custom_id


def test_a_long_line_is_refused_and_the_next_one_is_read() -> None:
    file = io.BytesIO(b"x" * 100 + b"\n\n" + b"y" * 30)

    found = [(number, place, len(line)) for number, place, line in read_lines(file, 40)]

    assert found == [(1, 0, 41), (3, 102, 30)]
    with pytest.raises(ValueError, match="longer than 40 bytes"):
        read_row(b"x" * 41, CHAT, 40)


def test_a_check_that_takes_too_long_ends() -> None:
    file = io.BytesIO(b"".join(write_rows([(str(n), Raw(b"{}")) for n in range(300)], CHAT)))

    assert check_input(file, CHAT, LONGEST, until=5.0, clock=lambda: 6.0) is None


def test_no_more_errors_are_listed_than_fit() -> None:
    checked = check_input(io.BytesIO(b"{\n" * 500), CHAT, LONGEST)

    assert checked is not None
    assert len(checked.errors) == 100
