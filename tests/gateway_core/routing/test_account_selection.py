"""Which account is asked first."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from snapshots import account, call

from gateway_core.config.settings import Settings, read_settings
from gateway_core.pipeline.json_body import members_of
from gateway_core.routing.account_selection import (
    LONGEST_SESSION,
    MOST_SESSIONS,
    AccountConstraints,
    RoundRobin,
    eligible,
    session_of,
)

ACCOUNTS = tuple(account(id) for id in "abc")


def settings(limit: int = 1, **more: Any) -> Settings:
    return read_settings(
        {"fallbackStrategy": "round-robin", "stickyRoundRobinLimit": limit, **more}
    )


def served(turns: RoundRobin, count: int, given: Settings, session: str | None = None) -> str:
    """The ids of the accounts that take the next calls."""
    ids = ""
    for _ in range(count):
        first = next(iter(turns.order("acme", ACCOUNTS, given, session)))
        turns.used("acme", first.id, session)
        ids += first.id
    return ids


def ids(accounts: Iterable[Any]) -> str:
    return "".join(each.id for each in accounts)


def test_accounts_are_tried_by_priority_unless_they_take_turns() -> None:
    turns = RoundRobin()

    assert served(turns, 4, Settings()) == "aaaa"
    assert ids(turns.order("acme", ACCOUNTS, Settings(), "s")) == "abc"


@pytest.mark.parametrize(("limit", "expected"), [(1, "abcabc"), (2, "aabbccaa"), (3, "aaabbbccc")])
def test_an_account_takes_so_many_calls_in_a_row_and_then_the_one_that_rested_longest(
    limit: int, expected: str
) -> None:
    assert served(RoundRobin(), len(expected), settings(limit)) == expected


def test_a_provider_may_have_a_strategy_of_its_own() -> None:
    own = {"acme": {"fallbackStrategy": "fill-first"}}
    sticky = {"acme": {"stickyRoundRobinLimit": 2}}

    assert served(RoundRobin(), 3, settings(providerStrategies=own)) == "aaa"
    assert served(RoundRobin(), 4, settings(providerStrategies=sticky)) == "aabb"


def test_a_session_stays_on_its_account() -> None:
    turns = RoundRobin()

    assert served(turns, 1, settings(), "s") == "a"
    assert served(turns, 2, settings(), "t") == "bb"
    assert served(turns, 2, settings(), "s") == "aa"
    assert served(turns, 1, settings()) == "c"


def test_a_session_whose_account_is_gone_goes_to_another() -> None:
    turns = RoundRobin()
    served(turns, 1, settings(), "s")

    assert ids(turns.order("acme", ACCOUNTS[1:], settings(), "s")) == "bc"


def test_a_session_at_one_provider_means_nothing_to_another() -> None:
    turns = RoundRobin()
    turns.used("other", "c", "s")

    assert ids(turns.order("acme", ACCOUNTS, settings(), "s"))[0] == "a"


def test_only_so_many_sessions_are_remembered() -> None:
    turns = RoundRobin()
    served(turns, 1, settings(), "first")

    for number in range(MOST_SESSIONS):
        turns.used("other", "x", str(number))

    assert ids(turns.order("acme", ACCOUNTS, settings(), "first"))[0] == "b"


def test_every_account_is_in_the_order_once() -> None:
    turns = RoundRobin()

    for _ in range(10):
        served(turns, 1, settings(2))
        assert sorted(ids(turns.order("acme", ACCOUNTS, settings(2), None))) == ["a", "b", "c"]


@given(st.lists(st.sampled_from("abcd-"), max_size=40))
def test_the_one_that_rested_longest_comes_first_whatever_happened(acts: list[str]) -> None:
    """A dash is a new picture of the same accounts."""
    turns, used = RoundRobin(), dict.fromkeys("abcd", 0)
    accounts = tuple(account(id) for id in "abcd")
    for number, act in enumerate(acts, 1):
        if act == "-":
            accounts = tuple(account(id) for id in "abcd")
        else:
            assert turns.order("acme", accounts, settings(), None)
            turns.used("acme", act, None)
            used[act] = number

        order = ids(turns.order("acme", accounts, settings(), None))
        assert order == "".join(sorted("abcd", key=lambda id: used[id]))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AccountConstraints(), "abc"),
        (AccountConstraints(pinned="b"), "b"),
        (AccountConstraints(pinned="z"), ""),
        (AccountConstraints(allowed=frozenset("ac")), "ac"),
        (AccountConstraints(pinned="b", allowed=frozenset("ac")), "b"),
    ],
    ids=["anything", "pinned", "pinned to nobody", "allowed", "a pin comes first"],
)
def test_a_request_may_use_only_some_accounts(wanted: AccountConstraints, expected: str) -> None:
    assert ids(eligible(ACCOUNTS, wanted)) == expected


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"x-session-id": "h", "session-id": "i"}, b'{"session_id":"b"}', "h"),
        ({"x-client-request-id": "r"}, b"{}", "r"),
        ({"x-session-id": ""}, b'{"conversation_id":"c","session_id":"s"}', "s"),
        ({}, b'{"prompt_cache_key":"p\\u00e9","session_id":"s"}', "pé"),
        ({}, b'{"prompt_cache_key":7,"session_id":"s"}', "s"),
        ({}, b'{"prompt_cache_key":null}', None),
        ({}, b'{"prompt_cache_key":"a\xff"}', "a\ufffd"),
    ],
    ids=["header", "last header", "member", "escaped", "number", "null", "not text"],
)
def test_a_session_is_named_by_a_header_or_a_member(
    headers: dict[str, str], body: bytes, expected: str | None
) -> None:
    assert session_of(call(members=members_of(body), headers=headers)) == expected


def test_a_sessions_name_is_cut() -> None:
    long = "x" * 1000

    assert session_of(call(headers={"session_id": long})) == "x" * LONGEST_SESSION
    body = call(members={"session_id": Raw(f'"{long}"'.encode())})
    assert session_of(body) == "x" * LONGEST_SESSION
