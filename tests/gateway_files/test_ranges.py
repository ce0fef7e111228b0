"""Ranges of a content (RFC 9110, section 14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_files.ranges import Span, Unsatisfiable, has_tag, wanted

TAG = '"file_1"'

RANGES = {
    "bytes=0-0": (0, 1),
    "bytes=0-9": (0, 10),
    "bytes=2-4": (2, 5),
    "bytes=9-": (9, 10),
    "bytes=0-": (0, 10),
    "bytes=3-99": (3, 10),
    "bytes=-1": (9, 10),
    "bytes=-10": (0, 10),
    "bytes=-99": (0, 10),
    "BYTES=1-2": (1, 3),
    "bytes= 1-2 ": (1, 3),
    "bytes=000000001-2": (1, 3),
}


@pytest.mark.parametrize("header", RANGES)
def test_one_range_is_a_part(header: str) -> None:
    assert wanted(header, None, TAG, 10) == Span(*RANGES[header])


IGNORED = (
    *("", "bytes", "bytes=", "bytes=-", "bytes=4-2", "bytes=a-b", "bytes=1", "bytes=1-2-3"),
    *("bytes=+1-2", "bytes=1-2,4-5", "bytes=0-0," * 1000 + "1-1", "lines=1-2", "bytes 1-2"),
    *("bytes=1.5-2", "bytes=\u0661-2", "bytes=--5", "bytes=" + "9" * 5000 + "-"),
)


@pytest.mark.parametrize("header", IGNORED, ids=range(len(IGNORED)))
def test_what_is_not_one_range_of_bytes_is_ignored(header: str) -> None:
    assert wanted(header, None, TAG, 10) is None


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=10-12", "bytes=-0", f"bytes={'9' * 30}-"])
def test_a_range_without_a_byte_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(Unsatisfiable) as refused:
        wanted(header, None, TAG, 10)

    assert refused.value.size == 10


def test_an_empty_content_has_no_ranges() -> None:
    assert wanted("bytes=-5", None, TAG, 0) is None
    with pytest.raises(Unsatisfiable):
        wanted("bytes=0-", None, TAG, 0)


@pytest.mark.parametrize(
    ("if_range", "counts"),
    [
        (TAG, True),
        (f"W/{TAG}", False),
        ('"file_2"', False),
        ("Tue, 15 Nov 1994 12:45:26 GMT", False),
        ("*", False),
    ],
)
def test_a_range_counts_for_the_same_content_only(if_range: str, counts: bool) -> None:
    assert (wanted("bytes=0-1", if_range, TAG, 10) is not None) is counts


@given(st.integers(1, 50), st.integers(0, 60), st.integers(0, 60))
def test_a_span_lies_within_the_content(size: int, first: int, last: int) -> None:
    content = bytes(range(size))
    try:
        span = wanted(f"bytes={first}-{last}", None, TAG, size)
    except Unsatisfiable:
        assert first >= size
        return

    if last < first:
        assert span is None
    else:
        assert span is not None
        assert content[span.begin : span.end] == content[first : last + 1] != b""


@given(st.integers(1, 50), st.integers(1, 60))
def test_a_suffix_is_the_end_of_the_content(size: int, length: int) -> None:
    content = bytes(range(size))

    span = wanted(f"bytes=-{length}", None, TAG, size)

    assert span is not None
    assert content[span.begin : span.end] == content[-length:]


@given(st.text())
def test_no_header_breaks_it(header: str) -> None:
    try:
        span = wanted(header, None, TAG, 10)
    except Unsatisfiable:
        return
    assert span is None or 0 <= span.begin < span.end <= 10


def test_a_tag_is_looked_for_in_a_list() -> None:
    assert has_tag(f'"other", {TAG}', TAG)
    assert has_tag("*", TAG)
    assert not has_tag("", TAG)
    assert not has_tag('"other"', TAG)
