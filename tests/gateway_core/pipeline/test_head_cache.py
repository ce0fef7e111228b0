"""Heads that come again are known; no other is, and nothing secret is kept for that."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.pipeline import head_cache as module
from gateway_core.pipeline.head_cache import MOST, PATIENCE, PAUSE, Seen, SeenHeads

SECRET = b"sk-canary-of-a-client"
HEADERS = [
    (b"host", b"127.0.0.1"),
    (b"content-length", b"12"),
    (b"authorization", b"Bearer " + SECRET),
]
HEAD: dict[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": "/v1/chat/completions",
    "raw_path": b"/v1/chat/completions",
    "query_string": b"",
    "root_path": "",
    "client": ("10.0.0.1", 40_000),
    "headers": HEADERS,
}
OTHERS: dict[str, dict[str, Any]] = {
    "another path": {"path": "/v1/messages"},
    "another spelling": {"raw_path": b"/v1/chat/%63ompletions"},
    "a query": {"query_string": b"key=sk-1"},
    "below a path": {"root_path": "/gw"},
    "another client": {"client": ("127.0.0.1", 40_000)},
    "an unknown client": {"client": None},
    "another key": {"headers": [*HEADERS[:2], (b"authorization", b"Bearer sk-2")]},
    "no key": {"headers": HEADERS[:2]},
    "one header more": {"headers": [*HEADERS, (b"x-forwarded-for", b"127.0.0.1")]},
    "another order": {"headers": [HEADERS[2], *HEADERS[:2]]},
    "a header in two": {"headers": [*HEADERS[1:], (b"hos", b"t127.0.0.1")]},
}
STRANGE: dict[str, dict[str, Any]] = {
    "another method": {"method": "GET"},
    "no length": {"headers": HEADERS[::2]},
    "two lengths": {"headers": [*HEADERS, (b"content-length", b"12")]},
    "a header twice": {"headers": [*HEADERS, (b"host", b"127.0.0.1")]},
    "a length that is none": {"headers": [HEADERS[0], (b"content-length", b"+1")]},
    "an empty length": {"headers": [HEADERS[0], (b"content-length", b"")]},
    "a path that is no text": {"path": "/v1/\udc80"},
    "a long head": {"headers": [*HEADERS, (b"x", b"a" * 5000)]},
}
NOTHING: Any = None
ANY = Seen(NOTHING, 0)


def heads() -> SeenHeads:
    return SeenHeads(b"s" * 32)


def test_a_head_is_known_whatever_its_body_and_port() -> None:
    known = heads()
    mark = known.mark(HEAD)
    assert mark is not None
    known.keep(mark, ANY)

    length = [HEADERS[0], (b"content-length", b"999"), HEADERS[2]]
    again = known.mark({**HEAD, "headers": length, "client": ("10.0.0.1", 40_001)})

    assert again is not None
    assert known.find(again) is ANY
    assert (mark[1], again[1]) == (b"12", b"999")


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_another_head_is_not_known(change: dict[str, Any]) -> None:
    known = heads()
    mark = known.mark(HEAD)
    assert mark is not None
    known.keep(mark, ANY)

    other = known.mark({**HEAD, **change})

    assert other is not None
    assert known.find(other) is None


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_an_unusual_head_is_read_each_time(change: dict[str, Any]) -> None:
    assert heads().mark({**HEAD, **change}) is None


pieces = st.binary(max_size=6)
pairs = st.lists(st.tuples(pieces, pieces), max_size=4, unique_by=lambda pair: pair[0])


@given(pairs, pairs)
def test_two_heads_have_one_mark_only_when_they_are_the_same(
    one: list[tuple[bytes, bytes]], other: list[tuple[bytes, bytes]]
) -> None:
    known = heads()
    length = (b"content-length", b"1")

    marks = [known.mark({**HEAD, "headers": [*each, length]}) for each in (one, other)]

    assert (marks[0] == marks[1]) is (one == other)


def test_what_is_kept_of_a_head_does_not_show_its_key() -> None:
    known = heads()
    mark = known.mark(HEAD)
    assert mark is not None
    known.keep(mark, ANY)

    assert SECRET not in repr(vars(known)).encode()
    assert mark != SeenHeads(b"t" * 32).mark(HEAD)


def test_no_more_than_so_many_heads_are_kept() -> None:
    known = heads()
    for number in range(MOST + 10):
        known.keep((b"%d" % number, b"1"), ANY)

    assert known.find((b"9", b"1")) is None
    assert known.find((b"10", b"1")) is ANY
    assert len(known._held) == MOST


def test_who_never_comes_again_is_not_marked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = []
    monkeypatch.setattr(module, "_encode", lambda said: marked.append(said) or b"")
    known = heads()
    for number in range(PAUSE * 4):
        mark = known.mark({**HEAD, "query_string": b"%d" % number})
        if mark is not None:
            known.find((b"%d" % number, b"1"))

    assert len(marked) < 6 * PATIENCE


def test_heads_are_known_again_after_a_pause() -> None:
    known = heads()
    mark = known.mark(HEAD)
    assert mark is not None
    known.keep(mark, ANY)
    for number in range(PATIENCE + 1):
        known.find((b"%d" % number, b"1"))

    found = [known.mark(HEAD) for _ in range(PAUSE)]

    assert found[0] is None
    assert found[-1] == mark
