"""May this key call this model? Pure decisions over what a name resolved to (2.2)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from msgspec.structs import replace

from ..contracts.errors import Forbidden, GatewayError
from ..contracts.provider import ProviderSpec, Target
from ..identity.keys import Key
from ..storage.stores.combos import Combo
from .model_resolver import resolve
from .plan import Member, Plan, members_of_combo
from .snapshot import ConfigSnapshot

AUTO = "auto/"
FURTHER = ("models", "fallbacks")
"""Members of a body in which some vendors take further models to turn to."""
_ALIKE = {"k": "kK\u212a", "s": "sS\u017f"}
"""All that differs from a letter in its case alone, where that is more than its capital."""
_SPELLINGS = frozenset(
    "".join(letters)
    for name in FURTHER
    for letters in product(*(_ALIKE.get(letter, letter + letter.upper()) for letter in name))
)
"""What readers that ignore case, as some vendors' do, take for one of them."""
Row = dict[str, Any]


class ModelForbidden(Forbidden):
    """The key may not call this model."""

    code = "model_not_allowed"

    def __init__(self, model: str) -> None:
        super().__init__(f'Model "{model}" is not allowed for this API key')


class ComboForbidden(Forbidden):
    """The key may not call this combo."""

    code = "combo_not_allowed"

    def __init__(self, combo: str) -> None:
        super().__init__(f'Access denied: combo "{combo}" is not allowed for this API key')


def narrowed(snapshot: ConfigSnapshot, key: Key, plan: Plan, asked: str) -> Plan:
    """A plan with what a key may call of it. Raises ComboForbidden, ModelForbidden."""
    if plan.combo is not None:
        permit_combo(key, plan.combo)
    if not key.policy.has_rules:
        return plan
    its = ("narrowed", key.id, asked)
    known: tuple[Key, Plan, Plan] | None = snapshot.memory.get(its)
    # A key that was changed is another value with the same id.
    if known is None or known[0] is not key or known[1] is not plan:
        known = (key, plan, _narrowed(snapshot, key, plan, asked))
        snapshot.remember(its, known)
    return known[2]


def _narrowed(snapshot: ConfigSnapshot, key: Key, plan: Plan, asked: str) -> Plan:
    members = permitted_members(key, plan.members, asked, plan.combo)
    judge = plan.judge if plan.judge and _may_judge(snapshot, key, plan.judge) else None
    return replace(plan, members=members, judge=judge)


def _may_judge(snapshot: ConfigSnapshot, key: Key, name: str) -> bool:
    try:
        target = resolve(snapshot, name).target
    except GatewayError:
        return False
    return target is not None and allows(key, target, name)


def check_further(key: Key, members: Mapping[str, object]) -> None:
    """Refuse a body that names models beside the one that was looked at. Raises Forbidden."""
    if not key.policy.has_rules or _SPELLINGS.isdisjoint(members):
        return
    name = next(name for name in members if name in _SPELLINGS)
    raise Forbidden(
        f'This API key may not name further models: leave "{name}" out',
        code="model_not_allowed",
    )


def permit_combo(key: Key, combo: Combo) -> None:
    """Refuse a combo by its name. Raises ComboForbidden."""
    if combo.name.startswith(AUTO):
        if not key.policy.allow_auto_combos:
            raise ComboForbidden(combo.name)
    elif key.allowed_combos and combo.name not in key.allowed_combos:
        raise ComboForbidden(combo.name)


def permitted_members(
    key: Key, members: Sequence[Member], asked: str, combo: Combo | None
) -> tuple[Member, ...]:
    """The members that a key may call. Raises ModelForbidden when none is left.

    A virtual family cannot be narrowed by allowedModels, only by modelAccess.
    """
    if not key.policy.has_rules:
        return tuple(members)
    is_auto = combo is not None and combo.name.startswith(AUTO)
    requested = asked if combo is None else ""
    kept = tuple(m for m in members if allows(key, m.target, requested or m.name, is_auto=is_auto))
    if not kept:
        raise ModelForbidden(asked)
    return kept


def permit_model(key: Key, target: Target, asked: str) -> None:
    """Raises ModelForbidden."""
    if key.policy.has_rules and not allows(key, target, asked):
        raise ModelForbidden(asked)


def allows(key: Key, target: Target, asked: str, *, is_auto: bool = False) -> bool:
    """Whether a key may call a target, under any of its names."""
    policy = key.policy
    names = spellings(target.provider, target.model.id, asked)
    if policy.allowed_models and not is_auto and policy.allowed_models.isdisjoint(names):
        return False
    if policy.mode == "all":
        return True
    is_match = any(match(name) for match in policy.patterns for name in names)
    return is_match if policy.mode == "allow" else not is_match


def spellings(spec: ProviderSpec, model: str, asked: str) -> set[str]:
    """Every name of a model: as it was asked for, and behind each name of its provider."""
    prefixes = (spec.id, spec.alias, *spec.aliases)
    return {f"{prefix}/{model}" for prefix in prefixes if prefix} | ({asked} if asked else set())


def permitted_rows(snapshot: ConfigSnapshot, key: Key, rows: Iterable[Row]) -> list[Row]:
    """The catalog rows that a key may use."""
    if not (key.policy.has_rules or key.allowed_combos or key.connections):
        return list(rows)
    return [row for row in rows if _may_see(snapshot, key, row)]


def _may_see(snapshot: ConfigSnapshot, key: Key, row: Row) -> bool:
    spec = snapshot.registry.providers.get(row.get("gateway_provider", ""))
    if spec is not None:
        model = row["id"].partition("/")[2]
        row_model = next((m for m in snapshot.models.get(spec.id, ()) if m.id == model), None)
        if row_model is None:
            return False
        target = Target(spec, row_model)
        return reaches(snapshot, key, target) and allows(key, target, row["id"])
    return _may_see_combo(snapshot, key, row["id"])


def _may_see_combo(snapshot: ConfigSnapshot, key: Key, name: str) -> bool:
    try:
        combo = resolve(snapshot, name).combo
        if combo is None:
            return False
        permit_combo(key, combo)
        members = members_of_combo(snapshot, combo)
        kept = permitted_members(key, members, name, combo)
    except GatewayError:
        return False
    return any(reaches(snapshot, key, member.target) for member in kept)


def reaches(snapshot: ConfigSnapshot, key: Key, target: Target) -> bool:
    """Whether one of the key's accounts is at this provider."""
    if not key.connections:
        return True
    accounts = snapshot.accounts.get(target.provider.id, ())
    return any(account.id in key.connections for account in accounts)
