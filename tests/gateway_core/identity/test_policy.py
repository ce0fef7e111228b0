from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.policy import (
    LARGEST,
    LIFETIME,
    LONGEST_PATTERN,
    MOST_PATTERNS,
    WINDOWED,
    Policy,
    amount,
    checked,
    read,
)

KNOWN = ("allowedModels", "allowAutoCombos", "modelAccess", *WINDOWED, *LIFETIME)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
SOUND = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.none() | st.just("") | st.integers(0, LARGEST) for name in WINDOWED + LIFETIME},
        "monthlyBudget": st.floats(0, 1e6),
        "allowedModels": st.none() | st.lists(st.sampled_from(["a/b", " a/b ", "c"])),
        "allowAutoCombos": st.none() | st.booleans(),
        "modelAccess": st.none()
        | st.sampled_from([{}, {"mode": "all"}, {"patterns": []}])
        | st.fixed_dictionaries(
            {
                "mode": st.sampled_from(["all", "allow", "deny"]),
                "patterns": st.lists(st.sampled_from(["a*", " b "])),
                "note": st.text(max_size=3),
            },
        ),
        "own": JSON,
    },
)


@given(given_=st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=3), JSON))
def test_anything_is_either_sound_or_refused_and_then_allows_no_model(
    given_: dict[str, Any],
) -> None:
    try:
        sound = checked(given_)
    except BadRequest:
        assert read(given_) == Policy(mode="allow")
    else:
        assert set(sound) == set(given_)


@given(given_=st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=3), JSON))
def test_reading_what_was_stored_never_raises(given_: dict[str, Any]) -> None:
    assert isinstance(read(given_), Policy)


@given(policy=SOUND)
def test_checking_twice_changes_nothing(policy: dict[str, Any]) -> None:
    once = checked(policy)

    assert repr(checked(once)) == repr(once)


@given(policy=SOUND)
def test_a_member_that_is_left_out_means_the_same_as_none(policy: dict[str, Any]) -> None:
    sound = checked(policy)
    kept = {name: value for name, value in sound.items() if value is not None}

    first, second = read(sound), read(kept)

    assert [getattr(first, name) for name in Policy.__struct_fields__ if name != "patterns"] == [
        getattr(second, name) for name in Policy.__struct_fields__ if name != "patterns"
    ]


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("value", [None, "", 0])
def test_nothing_and_zero_are_no_windowed_limit(name: str, value: Any) -> None:
    assert checked({name: value}) == {name: None}
    assert not read({name: value}).has_limits


@pytest.mark.parametrize("name", LIFETIME)
def test_zero_is_a_limit_for_a_whole_life_and_nothing_is_none(name: str) -> None:
    assert checked({name: 0}) == {name: 0}
    assert read({name: 0}).has_limits
    assert not read({name: ""}).has_limits


@pytest.mark.parametrize("name", WINDOWED + LIFETIME)
@pytest.mark.parametrize(
    "value",
    [-1, LARGEST + 1, 10**400, float("nan"), float("inf"), True, "5", [5], {}],
    ids=repr,
)
def test_what_is_no_amount_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadRequest, match=f"Invalid {name}"):
        amount(name, value)


@pytest.mark.parametrize("name", ["rpmLimit", "maxTokens"])
def test_only_money_has_fractions(name: str) -> None:
    with pytest.raises(BadRequest):
        amount(name, 1.5)

    assert amount("maxCostUsd", 1.5) == 1.5
    assert amount("monthlyBudget", 0.25) == 0.25


def test_money_is_counted_in_millionths() -> None:
    policy = read({"maxCostUsd": 0.000042, "monthlyBudget": 1.1})

    assert (policy.max_cost, policy.monthly_budget) == (42, 1_100_000)


def test_models_are_trimmed_and_named_once() -> None:
    assert checked({"allowedModels": [" a/b", "c", "a/b "]}) == {"allowedModels": ["a/b", "c"]}


@pytest.mark.parametrize("models", ["a/b", [""], [" "], [1], ["a", None], {}], ids=repr)
def test_models_that_cannot_be_are_refused(models: Any) -> None:
    with pytest.raises(BadRequest, match="Invalid allowedModels"):
        checked({"allowedModels": models})


@pytest.mark.parametrize(
    "access",
    [
        [],
        "deny",
        {"mode": "none"},
        {"mode": None},
        {"mode": "allow"},
        {"mode": "deny"},
        {"patterns": ["a*"]},
        {"patterns": "a*"},
        {"patterns": [1]},
        {"patterns": [" "]},
        {"patterns": ["a"] * (MOST_PATTERNS + 1)},
        {"patterns": ["a" * (LONGEST_PATTERN + 1)]},
    ],
    ids=lambda access: repr(access)[:30],
)
def test_model_rules_that_cannot_be_are_refused(access: Any) -> None:
    with pytest.raises(BadRequest, match="Invalid modelAccess"):
        checked({"modelAccess": access})


def test_as_many_patterns_as_may_be_are_taken() -> None:
    patterns = [f"{'a' * (LONGEST_PATTERN - 4)}{n:04}" for n in range(MOST_PATTERNS)]

    policy = read(checked({"modelAccess": {"mode": "allow", "patterns": patterns}}))

    assert len(policy.patterns) == MOST_PATTERNS


def test_members_that_are_not_known_stay() -> None:
    policy = {"own": {"a": 1}, "modelAccess": {"mode": "all", "patterns": [], "note": "kept"}}

    assert checked(policy) == policy


@pytest.mark.parametrize(
    ("stored", "has_rules", "has_limits"),
    [
        ({}, False, False),
        ({"allowedModels": []}, False, False),
        ({"allowedModels": ["a"]}, True, False),
        ({"allowAutoCombos": True}, False, False),
        ({"allowAutoCombos": False}, True, False),
        ({"modelAccess": {"mode": "all", "patterns": ["a"]}}, False, False),
        ({"modelAccess": {"mode": "deny", "patterns": []}}, True, False),
        ({"rpmLimit": 1}, False, True),
    ],
    ids=repr,
)
def test_a_policy_knows_what_it_narrows(
    stored: dict[str, Any], has_rules: bool, has_limits: bool
) -> None:
    policy = read(stored)

    assert (policy.has_rules, policy.has_limits) == (has_rules, has_limits)


def test_a_stored_policy_that_makes_no_sense_allows_no_model() -> None:
    policy = read({"modelAccess": 7, "rpmLimit": 5})

    assert (policy.mode, policy.patterns) == ("allow", ())


def test_the_cap_of_a_day_stands_beside_the_policy() -> None:
    assert read({}, 5).daily_tokens == 5
    assert read({}, 5).has_limits
    assert read({}, 0).daily_tokens is None
