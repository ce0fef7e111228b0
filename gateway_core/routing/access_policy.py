"""May this key call this model? Pure decisions over what a name resolved to (2.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from ..contracts.errors import BadRequest, Forbidden, GatewayError
from ..contracts.provider import ProviderSpec, Target
from ..identity.keys import Key
from ..metering.prices import Prices
from ..storage.stores.combos import Combo
from .model_resolver import resolve
from .plan import Member, Plan, members_of_combo
from .snapshot import ConfigSnapshot

AUTO = "auto/"
FURTHER = ("models", "fallbacks")
"""Members of a body in which some vendors accept further models as fallbacks."""
_ALIKE = {"k": "kK\u212a", "s": "sS\u017f"}
"""Characters that case folding maps to a letter, where its capital is not the only one."""
_SPELLINGS = frozenset(
    "".join(letters)
    for name in FURTHER
    for letters in product(*(_ALIKE.get(letter, letter + letter.upper()) for letter in name))
)
"""Their spellings for JSON readers that ignore case, as some vendors' do."""
Row = dict[str, Any]


class ModelForbidden(Forbidden):
    """The key may not call this model."""

    code = "model_not_allowed"

    def __init__(self, model: str) -> None:
        super().__init__(f'Model "{model}" is not allowed for this API key')


class ModelUnpriced(Forbidden):
    """The key has a budget, and nobody knows what a call of this model costs."""

    code = "model_unpriced"

    def __init__(self, model: str) -> None:
        super().__init__(
            f'Model "{model}" has no known price, and this API key has a budget: '
            "such models are refused until the operator sets a price"
        )


class ComboForbidden(Forbidden):
    """The key may not call this combo."""

    code = "combo_not_allowed"

    def __init__(self, combo: str) -> None:
        super().__init__(f'Access denied: combo "{combo}" is not allowed for this API key')


def narrowed(snapshot: ConfigSnapshot, key: Key, plan: Plan) -> Plan:
    """A plan with what a key may call of it. Raises ComboForbidden, ModelForbidden."""
    if plan.combo is not None:
        permit_combo(key, plan.combo.name)
    if not key.policy.has_rules:
        return plan
    name = ("narrowed", key.id, plan.name)
    known: tuple[Key, Plan, Plan] | None = snapshot.memory.get(name)
    # A key that was changed is another value with the same id.
    if known is not None and known[0] is key and known[1] is plan:
        return known[2]
    members = permitted_members(key, plan.members, plan.name, plan.combo)
    judge = None
    if plan.judge:
        with suppress(GatewayError):
            target = resolve(snapshot, plan.judge).target
            if target is not None and allows(key, target, plan.judge):
                judge = plan.judge
    permitted = replace(plan, members=members, judge=judge)
    snapshot.remember(name, (key, plan, permitted))
    return permitted


def priced(snapshot: ConfigSnapshot, prices: Prices, plan: Plan, requested: str) -> Plan:
    """A plan with the members that a budget can count. Raises ModelUnpriced when none is left."""
    members = tuple(member for member in plan.members if prices.is_known(member.target))
    if not members:
        raise ModelUnpriced(requested)
    judge = None
    if plan.judge:
        with suppress(GatewayError):
            target = resolve(snapshot, plan.judge).target
            judge = plan.judge if target is not None and prices.is_known(target) else None
    return replace(plan, members=members, judge=judge)


def must_be_priced(snapshot: ConfigSnapshot, key: Key) -> bool:
    """Whether a key may call only models with a known price."""
    return snapshot.settings.refuse_unpriced_models and key.policy.has_budget


def check_further(
    snapshot: ConfigSnapshot,
    key: Key | None,
    targets: Iterable[Member],
    members: Mapping[str, Raw],
) -> None:
    """Refuse members of a body that name further models, which nobody has looked at.

    Raises Forbidden for a key whose rules or price limits they would pass by, and BadRequest
    for one that the operator has disabled.
    """
    is_bound = key is not None and key.policy.is_bound
    if not (is_bound or snapshot.hidden or snapshot.shown) or _SPELLINGS.isdisjoint(members):
        return
    for name in _SPELLINGS.intersection(members):
        if is_bound:
            raise Forbidden(
                f'This API key may not name further models: leave "{name}" out',
                code="model_not_allowed",
            )
        for model, each in product(_further_names(members[name]), targets):
            if snapshot.is_disabled(each.target.provider, model):
                raise BadRequest(f"Model {model} is disabled", code="model_disabled", param=name)


def _further_names(value: Raw) -> Iterator[str]:
    """The models that a list names, each as text or as the member ``model`` of an object."""
    listed = msgspec.json.decode(value)
    for each in listed if isinstance(listed, list) else [listed]:
        name = each.get("model") if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name.strip()


def permit_combo(key: Key, combo: str) -> None:
    """Refuse a combo by its name. Raises ComboForbidden."""
    if combo.startswith(AUTO):
        if not key.policy.allow_auto_combos:
            raise ComboForbidden(combo)
    elif key.allowed_combos and combo not in key.allowed_combos:
        raise ComboForbidden(combo)


def permitted_members(
    key: Key, members: Sequence[Member], requested: str, combo: Combo | None
) -> tuple[Member, ...]:
    """The members that a key may call. Raises ModelForbidden when none is left.

    A virtual family cannot be narrowed by allowedModels, only by modelAccess.
    """
    if not key.policy.has_rules:
        return tuple(members)
    is_auto = combo is not None and combo.name.startswith(AUTO)
    name = requested if combo is None else ""
    permitted = tuple(m for m in members if allows(key, m.target, name or m.name, is_auto=is_auto))
    if not permitted:
        raise ModelForbidden(requested or "auto")
    return permitted


def permit_model(key: Key, target: Target, requested: str) -> None:
    """Raises ModelForbidden."""
    if key.policy.has_rules and not allows(key, target, requested):
        raise ModelForbidden(requested)


def allows(key: Key, target: Target, requested: str, *, is_auto: bool = False) -> bool:
    """Whether a key may call a target, under any of its names."""
    policy = key.policy
    names = spellings(target.provider, target.model.id, requested)
    if policy.allowed_models and not is_auto and policy.allowed_models.isdisjoint(names):
        return False
    if policy.mode == "all":
        return True
    if policy.mode == "deny":
        # A model is denied with each choice of how it is served.
        plain = target.provider.without_variant(target.model.id)
        names |= spellings(target.provider, plain, target.provider.without_variant(requested))
    is_match = any(match(name) for match in policy.patterns for name in names)
    return is_match if policy.mode == "allow" else not is_match


def spellings(spec: ProviderSpec, model: str, requested: str) -> set[str]:
    """Every name of a model: as it was requested, and behind each name of its provider."""
    prefixes = (spec.id, spec.alias, *spec.aliases)
    return {f"{prefix}/{model}" for prefix in prefixes if prefix} | (
        {requested} if requested else set()
    )


def permitted_rows(
    snapshot: ConfigSnapshot, prices: Prices, key: Key, rows: Iterable[Row]
) -> list[Row]:
    """The catalog rows that a key may use."""
    must_be_known = must_be_priced(snapshot, key)
    narrows = key.policy.has_rules or key.allowed_combos or key.connections
    if not (narrows or must_be_known):
        return list(rows)

    def is_open(target: Target) -> bool:
        return reaches(snapshot, key, target) and (not must_be_known or prices.is_known(target))

    permitted = []
    for row in rows:
        name = row["id"]
        spec = snapshot.registry.providers.get(row.get("gateway_provider", ""))
        if spec is None:
            members = _members(snapshot, key, name)
            if any(is_open(member.target) for member in members):
                permitted.append(row)
            continue
        model_id = name.partition("/")[2]
        model = next((m for m in snapshot.models.get(spec.id, ()) if m.id == model_id), None)
        if model is None:
            continue
        target = Target(spec, model)
        if is_open(target) and allows(key, target, name):
            permitted.append(row)
    return permitted


def _members(snapshot: ConfigSnapshot, key: Key, combo_name: str) -> Sequence[Member]:
    """The members of a combo that a key may call; none where it may not call the combo."""
    try:
        combo = resolve(snapshot, combo_name).combo
        if combo is None:
            return ()
        permit_combo(key, combo.name)
        return permitted_members(key, members_of_combo(snapshot, combo), combo_name, combo)
    except GatewayError:
        return ()


def reaches(snapshot: ConfigSnapshot, key: Key, target: Target) -> bool:
    """Whether one of the key's accounts is at this provider."""
    if not key.connections:
        return True
    accounts = snapshot.accounts.get(target.provider.id, ())
    return any(account.id in key.connections for account in accounts)
