"""What a key may call of a plan, however often it is asked."""

from typing import Any

import pytest
from msgspec.structs import replace
from snapshots import provider, snapshot_of

from gateway_core import Kind, Model
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import read
from gateway_core.routing.access_policy import ModelForbidden, narrowed
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

    first, second = (narrowed(tables, may, plan, "acme/small") for _ in range(2))

    assert first is second
    assert [member.target.model.id for member in first.members] == ["small"]
    with pytest.raises(ModelForbidden):
        narrowed(tables, may_not, plan, "acme/small")
    assert narrowed(tables, may, plan, "acme/small").members == first.members


@pytest.mark.parametrize(
    ("allowed", "judge"), [(["acme/small"], None), (["acme/small", "acme/large"], "acme/large")]
)
def test_no_model_judges_for_a_key_that_may_not_call_it(
    allowed: list[str], judge: str | None
) -> None:
    tables = snapshot_of(ACME)
    plan = build_plan(tables, "acme/small", Kind.LLM, 0, decorated=False)

    found = narrowed(
        tables, key(allowedModels=allowed), replace(plan, judge="acme/large"), "acme/small"
    )

    assert found.judge == judge
