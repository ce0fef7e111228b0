"""The members a call may be sent to, in order: one target, or a combo's many."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..config.settings import ComboStrategy, ContextRequirements, Settings
from ..contracts.errors import EmptyCombo, GatewayError, NothingToTry
from ..contracts.kinds import Kind
from ..contracts.provider import Target
from ..storage.stores.combos import Combo
from .model_resolver import Resolved, resolve
from .snapshot import ConfigSnapshot

DEEPEST = 8
"""How many combos may stand within one another."""
HEAVIEST = 1_000_000_000
"""The largest weight of a member: sums of weights stay finite."""


class Member(Struct, frozen=True):
    """A target a call may be sent to, with its combo's options for it."""

    target: Target
    name: str
    """As the combo spells it."""
    weight: float = 1.0
    pinned: str | None = None
    """The only account this member may use."""
    cooldown: str = ""
    """The name under which its accounts rest; empty takes the model's."""
    timeout: float | None = None
    """Seconds for it; ``None`` takes the plan's."""

    @property
    def resting(self) -> str:
        """The name under which its accounts rest."""
        return self.cooldown or self.target.model.id


class Plan(Struct, frozen=True, kw_only=True):
    """What to try. ``combo`` is the outermost one."""

    members: tuple[Member, ...]
    name: str = ""
    """What was asked for, in the spelling that a key's policy compares."""
    combo: Combo | None = None
    strategy: str = "fallback"
    timeout: float | None = None
    """Seconds for one member."""
    judge: str | None = None
    """The model that merges the answers of a fusion."""
    is_route: bool = False
    """The request named no model: another member is asked only where one is not available."""
    is_final: bool = False
    """Nothing is sent twice, whatever becomes of it."""


def build_plan(
    snapshot: ConfigSnapshot, name: str, kind: str, default_timeout_ms: int, *, decorated: bool
) -> Plan:
    """What to try for a model's name, cached for the life of a snapshot. Raises as its parts do."""
    key = (name, kind, decorated, default_timeout_ms)
    plan: Plan | None = snapshot.memory.get(key)
    if plan is None:
        resolved = resolve(snapshot, name, kind, decorated=decorated)
        plan = plan_resolved(snapshot, resolved, kind, default_timeout_ms)
        snapshot.remember(key, plan)
    return plan


def plan_resolved(
    snapshot: ConfigSnapshot, resolved: Resolved, kind: str, default_timeout_ms: int
) -> Plan:
    """The members in their saved order. Raises NothingToTry for a combo without any."""
    if resolved.target is not None:
        member = Member(resolved.target, resolved.target.model.id)
        return Plan(members=(member,), name=resolved.name)
    combo = resolved.combo
    if combo is None:
        raise NothingToTry("The model resolves to nothing")
    own = snapshot.settings.combo_strategies.get(combo.name) or ComboStrategy()
    members = members_of_combo(snapshot, combo, kind)
    if own.context_requirements is not None:
        members = _large_enough(members, own.context_requirements)
    if snapshot.settings.hide_paid_models:
        free = (
            m
            for m in members
            if m.target.provider.free
            or (
                (price := m.target.model.price)
                and price.input == 0 == price.output
                and not price.units
            )
        )
        members = tuple(free) or members
    if not members:
        raise EmptyCombo(combo.name)
    timeout_ms = own.timeout_ms if own.timeout_ms is not None else default_timeout_ms
    return Plan(
        members=members,
        name=resolved.name,
        combo=combo,
        strategy=strategy_of(own, snapshot.settings),
        timeout=timeout_ms / 1000 if timeout_ms else None,
        judge=own.judge_model,
    )


def members_of_combo(
    snapshot: ConfigSnapshot, combo: Combo, kind: str = Kind.LLM
) -> tuple[Member, ...]:
    """Every target of a combo, in saved order."""
    return tuple(_members(snapshot, combo, kind, ()))


def strategy_of(own: ComboStrategy, settings: Settings) -> str:
    chosen = own.fallback_strategy or settings.combo_strategy
    return "smart" if chosen in ("task", "task-aware", "auto") else chosen


def _members(
    snapshot: ConfigSnapshot, combo: Combo, kind: str, within: tuple[str, ...]
) -> Iterator[Member]:
    """Every target of a combo; combos inside it are opened, one within itself is left out."""
    if combo.name in within or len(within) >= DEEPEST:
        return
    options: dict[str, list[Mapping[str, Any]]] = {}
    for row in combo.members or ():
        options.setdefault(str(row.get("model")), []).append(row)
    for name in combo.models:
        try:
            resolved = resolve(snapshot, name, kind)
        except GatewayError:
            continue  # a member that no longer means anything must not stop the others
        if resolved.combo is not None:
            yield from _members(snapshot, resolved.combo, kind, (*within, combo.name))
        elif resolved.target is not None:
            # A model that is listed twice may have options for each time, in the same order.
            rows = options.get(name) or [{}]
            row = rows.pop(0) if len(rows) > 1 else rows[0]
            weight, pinned = row.get("weight"), row.get("connectionId")
            yield Member(
                resolved.target,
                name,
                float(weight)
                if isinstance(weight, int | float) and 0 <= weight <= HEAVIEST
                else 1.0,
                pinned if isinstance(pinned, str) and pinned else None,
            )


def _large_enough(
    members: Sequence[Member], requirements: ContextRequirements
) -> tuple[Member, ...]:
    """Without those whose context is too small; an unknown one passes when lenient."""
    least = requirements.min_context_window or 0
    lenient = requirements.context_filter_mode == "lenient"
    kept = [
        m for m in members if _context(m.target) >= least or (lenient and not _context(m.target))
    ]
    if requirements.prefer_large_context:
        kept.sort(key=lambda m: -_context(m.target))
    return tuple(kept)


def _context(target: Target) -> int:
    return target.model.context or target.provider.default_context or 0
