"""A combo's members: opened, weighed, filtered, never in circles."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from snapshots import combo, provider, snapshot_of

from gateway_core import Kind, Model, Price
from gateway_core.contracts.errors import NothingToTry
from gateway_core.routing.model_resolver import Resolved, resolve
from gateway_core.routing.plan import DEEPEST, Member, Plan, build_plan, plan_resolved
from gateway_core.routing.snapshot import MOST_REMEMBERED, ConfigSnapshot

ACME = provider(
    "acme",
    Model("small", context=1000),
    Model("large", context=9000),
    Model("unknown"),
    Model("gratis", price=Price(input=0, output=0)),
)


def planned(snapshot: ConfigSnapshot, name: str, timeout_ms: int = 0) -> Plan:
    return plan_resolved(snapshot, resolve(snapshot, name), Kind.LLM, timeout_ms)


def ids(members: tuple[Member, ...]) -> list[str]:
    return [member.target.model.id for member in members]


def snapshot(
    *combos: Any, strategy: dict[str, Any] | None = None, **settings: Any
) -> ConfigSnapshot:
    own = {"comboStrategies": {"c": strategy}} if strategy else {}
    return snapshot_of(ACME, combos=combos, settings={**own, **settings})


def test_a_model_alone_is_a_plan_of_one() -> None:
    found = planned(snapshot(), "acme/small", 500)

    assert ids(found.members) == ["small"]
    assert (found.combo, found.timeout, found.strategy) == (None, None, "fallback")


def test_a_name_is_worked_out_once_in_a_picture_and_anew_in_a_changed_one() -> None:
    picture = snapshot(combo("c", "acme/small"))
    changed = replace(picture, combos={"c": combo("c", "acme/large")})

    first, second, third = (
        build_plan(each, "c", Kind.LLM, 0, decorated=False) for each in (picture, picture, changed)
    )

    assert first is second
    assert (ids(first.members), ids(third.members)) == (["small"], ["large"])


def test_a_picture_remembers_a_limited_number_of_names() -> None:
    picture = snapshot()

    for number in range(MOST_REMEMBERED + 10):
        build_plan(picture, f"acme/{number}", Kind.LLM, 0, decorated=False)

    assert len(picture.memory) <= MOST_REMEMBERED


def test_combos_within_combos_are_opened_in_place() -> None:
    given = snapshot(
        combo("c", "acme/small", "inner", "acme/unknown"), combo("inner", "acme/large", "acme/new")
    )

    found = planned(given, "c")

    assert ids(found.members) == ["small", "large", "new", "unknown"]
    assert found.combo is not None
    assert found.combo.name == "c"


def test_a_combo_within_itself_is_left_out() -> None:
    given = snapshot(combo("c", "d", "acme/small", "c"), combo("d", "c", "acme/large"))

    assert ids(planned(given, "c").members) == ["large", "small"]
    assert ids(planned(given, "d").members) == ["small", "large"]


def test_a_combo_of_nothing_but_itself_has_nothing_to_try() -> None:
    with pytest.raises(NothingToTry, match='Combo "c" has no models'):
        planned(snapshot(combo("c", "d"), combo("d", "c")), "c")


@given(st.lists(st.lists(st.integers(0, 4), max_size=2), min_size=5, max_size=5))
def test_no_web_of_combos_goes_on_forever(edges: list[list[int]]) -> None:
    combos = [
        combo(f"c{number}", *(f"c{other}" for other in others), f"acme/m{number}")
        for number, others in enumerate(edges)
    ]

    for number, others in enumerate(edges):
        found = ids(planned(snapshot_of(ACME, combos=combos), f"c{number}").members)
        assert f"m{number}" in found
        assert {f"m{other}" for other in others} <= set(found)


def test_combos_are_opened_only_so_deep() -> None:
    chain = [combo(f"c{level}", f"acme/m{level}", f"c{level + 1}") for level in range(20)]

    found = planned(snapshot_of(ACME, combos=[*chain, combo("c20", "acme/end")]), "c0")

    assert ids(found.members) == [f"m{level}" for level in range(DEEPEST)]


def test_a_member_that_means_nothing_does_not_stop_the_others() -> None:
    given = snapshot(combo("c", "nobody/m", "unheard-of", "", "auto/llama", "acme/small"))

    assert ids(planned(given, "c").members) == ["small"]


def test_weights_and_pins_stand_beside_their_members() -> None:
    facts = (
        {"model": "acme/small", "weight": 3, "connectionId": "a"},
        {"model": "acme/large", "weight": -1, "connectionId": ""},
        {"model": "acme/unknown", "weight": "much", "connectionId": 7},
        {"model": "acme/huge", "weight": 10**400},
    )
    given = snapshot(combo("c", *(fact["model"] for fact in facts), members=facts))

    found = planned(given, "c").members

    assert [(member.weight, member.pinned) for member in found] == [
        (3.0, "a"),
        (1.0, None),
        (1.0, None),
        (1.0, None),
    ]


def test_one_model_on_two_accounts_keeps_both_pins() -> None:
    facts = tuple({"model": "acme/small", "connectionId": id} for id in "ab")
    given = snapshot(combo("c", "acme/small", "acme/small", "acme/small", members=facts))

    assert [member.pinned for member in planned(given, "c").members] == ["a", "b", "b"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"minContextWindow": 5000}, ["large", "unknown"]),
        ({"minContextWindow": 5000, "contextFilterMode": "strict"}, ["large"]),
        ({"minContextWindow": 500, "preferLargeContext": True}, ["large", "small", "unknown"]),
        ({}, ["small", "large", "unknown"]),
    ],
    ids=["lenient", "strict", "large first", "nothing asked"],
)
def test_members_must_be_large_enough(wanted: dict[str, Any], expected: list[str]) -> None:
    given = snapshot(
        combo("c", "acme/small", "acme/large", "acme/unknown"),
        strategy={"contextRequirements": wanted},
    )

    assert ids(planned(given, "c").members) == expected


def test_no_member_large_enough_is_nothing_to_try() -> None:
    given = snapshot(
        combo("c", "acme/small"),
        strategy={"contextRequirements": {"minContextWindow": 5000}},
    )

    with pytest.raises(NothingToTry):
        planned(given, "c")


def test_paid_members_are_hidden_while_there_are_free_ones() -> None:
    given = snapshot(combo("c", "acme/small", "acme/gratis"), combo("d", "acme/small"))
    hidden = snapshot_of(
        ACME, combos=tuple(given.combos.values()), settings={"hidePaidModels": True}
    )

    assert ids(planned(hidden, "c").members) == ["gratis"]
    assert ids(planned(hidden, "d").members) == ["small"]


@pytest.mark.parametrize(
    ("own", "general", "expected"),
    [
        ({}, "fallback", "fallback"),
        ({}, "round-robin", "round-robin"),
        ({"fallbackStrategy": "weighted"}, "round-robin", "weighted"),
        ({"fallbackStrategy": "task"}, "fallback", "smart"),
        ({"fallbackStrategy": "task-aware"}, "fallback", "smart"),
        ({}, "auto", "smart"),
    ],
)
def test_a_combos_own_strategy_comes_first(
    own: dict[str, Any], general: str, expected: str
) -> None:
    given = snapshot(combo("c", "acme/small"), strategy=own, comboStrategy=general)

    assert planned(given, "c").strategy == expected


@pytest.mark.parametrize(
    ("own", "general", "seconds"),
    [({}, 0, None), ({}, 1500, 1.5), ({"timeoutMs": 200}, 1500, 0.2), ({"timeoutMs": 0}, 9, None)],
    ids=["none", "general", "own", "own without limit"],
)
def test_a_members_time_is_the_combos_own_or_the_general_one(
    own: dict[str, Any], general: int, seconds: float | None
) -> None:
    given = snapshot(combo("c", "acme/small"), strategy={"judgeModel": "j", **own})

    assert planned(given, "c", general).timeout == seconds
    assert planned(given, "c", general).judge == "j"


def test_a_name_that_resolves_to_nothing_is_nothing_to_try() -> None:
    with pytest.raises(NothingToTry):
        plan_resolved(snapshot(), Resolved(), Kind.LLM, 0)
