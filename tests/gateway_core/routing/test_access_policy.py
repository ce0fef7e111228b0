"""What a key may call of a plan, however often it is asked."""

from contextlib import nullcontext
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from snapshots import provider, snapshot_of, target

from gateway_core import BadRequest, Kind, Model
from gateway_core.contracts.errors import Forbidden
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import read
from gateway_core.routing.access_policy import ModelForbidden, allows, check_further, narrowed
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.plan import build_plan

ACME = provider("acme", Model("small"), Model("large"))


def key(**policy: Any) -> Key:
    return Key(
        id="k1",
        name="k1",
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=read(policy),
        connections=frozenset(),
        has_limits=False,
        is_restricted=True,
    )


def test_a_key_that_was_changed_is_judged_anew() -> None:
    tables = snapshot_of(ACME)
    plan = build_plan(tables, "acme/small", Kind.LLM, 0, decorated=False)
    may, may_not = (key(allowedModels=[name]) for name in ("acme/small", "acme/large"))

    first, second = (narrowed(tables, may, plan) for _ in range(2))

    assert first is second
    assert [member.target.model.id for member in first.members] == ["small"]
    with pytest.raises(ModelForbidden):
        narrowed(tables, may_not, plan)
    assert narrowed(tables, may, plan).members == first.members


@pytest.mark.parametrize(
    ("allowed", "judge"), [(["acme/small"], None), (["acme/small", "acme/large"], "acme/large")]
)
def test_no_model_judges_for_a_key_that_may_not_call_it(
    allowed: list[str], judge: str | None
) -> None:
    tables = snapshot_of(ACME)
    plan = build_plan(tables, "acme/small", Kind.LLM, 0, decorated=False)

    found = narrowed(tables, key(allowedModels=allowed), replace(plan, judge="acme/large"))

    assert found.judge == judge


def test_a_denied_model_is_denied_with_every_choice_of_how_it_is_served() -> None:
    spec = provider("acme", "small", alias="ac", variants=(":fast",))
    denies = key(modelAccess={"mode": "deny", "patterns": ["ac/small"]})
    permits = key(modelAccess={"mode": "allow", "patterns": ["ac/small"]})

    for name in ("acme/small:fast", "ac/small"):
        found = resolve(snapshot_of(spec), name).target
        assert found is not None
        assert not allows(denies, found, name)
    assert not allows(permits, target(spec, "small:fast"), "acme/small:fast")
    assert allows(denies, target(spec, "small:other"), "ac/small:other")


def test_a_listed_decoration_opens_no_other_model() -> None:
    tables = snapshot_of(ACME)
    plan = build_plan(tables, "claude-acme/large", Kind.LLM, 0, decorated=True)

    with pytest.raises(ModelForbidden):
        narrowed(tables, key(modelAccess={"mode": "allow", "patterns": ["claude-*"]}), plan)


@pytest.mark.parametrize("policy", [{"monthlyBudget": 5}, {"maxCostUsd": 5}])
def test_a_key_with_a_budget_may_not_name_further_models(policy: dict[str, Any]) -> None:
    tables = snapshot_of(ACME)
    plan = build_plan(tables, "acme/small", Kind.LLM, 0, decorated=False)
    further = {"models": Raw(b'["acme/large"]')}

    with pytest.raises(Forbidden):
        check_further(tables, key(**policy), plan.members, further)
    check_further(tables, key(rpmLimit=5), plan.members, further)
    check_further(tables, None, plan.members, further)


@pytest.mark.parametrize(
    ("member", "value", "is_refused"),
    [
        ("models", b'["large"]', True),
        ("Models", b'["small"," LARGE "]', True),
        ("fallbacks", b'[{"model":"large"}]', True),
        ("models", b'"large"', True),
        ("models", b'["small",5,null,{"model":7}]', False),
    ],
)
def test_a_disabled_model_is_no_fallback(member: str, value: bytes, is_refused: bool) -> None:
    tables = snapshot_of(ACME, hidden=frozenset({("acme", "large")}))
    plan = build_plan(tables, "acme/small", Kind.LLM, 0, decorated=False)

    with pytest.raises(BadRequest, match="disabled") if is_refused else nullcontext():
        check_further(tables, None, plan.members, {member: Raw(value)})
