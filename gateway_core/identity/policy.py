"""A key's policy object (2.2): how it is checked when it is written, and read when it is used."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from ..contracts.errors import BadRequest
from .globs import Match, glob

MOST_PATTERNS = 200
LONGEST_PATTERN = 256
LARGEST = 2**53
WINDOWED = (
    "rpmLimit",
    "tpmLimit",
    "dailyInputTokenLimit",
    "dailyOutputTokenLimit",
    "monthlyTokenLimit",
    "monthlyInputTokenLimit",
    "monthlyOutputTokenLimit",
    "monthlyRequestLimit",
    "monthlyBudget",
)
"""Limits for which empty, null and 0 mean no limit."""
LIFETIME = ("maxTokens", "maxCostUsd")
"""Caps for which 0 is a real limit."""
KNOWN = ("allowedModels", "allowAutoCombos", "modelAccess", *WINDOWED, *LIFETIME)
"""The members of a policy that mean something; others are kept."""
_ACCESS = ("mode", "patterns")
_MONEY = ("monthlyBudget", "maxCostUsd")
_MICRO = 1_000_000


class Policy(Struct, frozen=True, kw_only=True):
    """What a key may do, ready for use. Money is in millionths of a dollar."""

    allowed_models: frozenset[str] = frozenset()
    """Empty allows all."""
    allow_auto_combos: bool = True
    mode: Literal["all", "allow", "deny"] = "all"
    patterns: tuple[Match, ...] = ()
    max_tokens: int | None = None
    max_cost: int | None = None
    rpm: int | None = None
    tpm: int | None = None
    daily_tokens: int | None = None
    daily_input: int | None = None
    daily_output: int | None = None
    monthly_tokens: int | None = None
    monthly_input: int | None = None
    monthly_output: int | None = None
    monthly_requests: int | None = None
    monthly_budget: int | None = None
    has_rules: bool = False
    """Whether any model may be out of reach; worked out from the rest."""
    is_bound: bool = False
    """Whether it matters which model is called: for the rules, or for its price. Worked out too."""

    @property
    def has_limits(self) -> bool:
        """Whether anything is counted for this key."""
        return any(getattr(self, name) is not None for name in _LIMITS)

    @property
    def has_budget(self) -> bool:
        """Whether what it spends is limited in money."""
        return self.monthly_budget is not None or self.max_cost is not None

    def __post_init__(self) -> None:
        has_rules = bool(self.allowed_models) or not self.allow_auto_combos or self.mode != "all"
        force_setattr(self, "has_rules", has_rules)
        has_budget = self.max_cost is not None or self.monthly_budget is not None
        force_setattr(self, "is_bound", has_rules or has_budget)


_LIMITS = tuple(
    name
    for name in Policy.__struct_fields__
    if name
    not in ("allowed_models", "allow_auto_combos", "mode", "patterns", "has_rules", "is_bound")
)


def checked(members: Mapping[str, Any]) -> dict[str, Any]:
    """A policy as it is to be stored; members that are not known stay. Raises BadRequest.

    A member that means "no limit" becomes ``None``.
    """
    policy = dict(members)
    if (models := members.get("allowedModels")) is not None:
        if not isinstance(models, list):
            raise BadRequest("Invalid allowedModels: a list of model ids is needed")
        names = [model.strip() if isinstance(model, str) else "" for model in models]
        if not all(names):
            raise BadRequest("Invalid allowedModels: every member is a model id")
        policy["allowedModels"] = list(dict.fromkeys(names))
    if "allowAutoCombos" in members and not isinstance(members["allowAutoCombos"], bool | None):
        raise BadRequest("Invalid allowAutoCombos: true or false is possible")
    if "modelAccess" in members:
        policy["modelAccess"] = _access(members["modelAccess"])
    for name in (*WINDOWED, *LIFETIME):
        if name in members:
            policy[name] = amount(name, members[name])
    return policy


def amount(name: str, value: Any) -> int | float | None:
    """One limit; ``None`` when there is none. Raises BadRequest."""
    if value is None or value == "":
        return None
    kinds = (int, float) if name in _MONEY else int
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise BadRequest(f"Invalid {name}: a number is needed")
    if not 0 <= value <= LARGEST:
        raise BadRequest(f"Invalid {name}: it cannot be less than 0 or more than {LARGEST}")
    return None if value == 0 and name in WINDOWED else value


def _access(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or value.get("mode", "all") not in ("all", "allow", "deny"):
        raise BadRequest("Invalid modelAccess: mode is one of all, allow and deny")
    # Unknown members are kept, but not where one may be a misspelt rule.
    needed = ("mode",) if value.get("mode") == "all" else _ACCESS
    strange = next((name for name in value if name not in _ACCESS), None)
    if strange is not None and any(name not in value for name in needed):
        names = ", ".join(_ACCESS)
        raise BadRequest(f'Invalid modelAccess: unknown member "{strange}", possible are {names}')
    patterns = value.get("patterns") or []
    # Without the one, the other would be a rule that rules nothing, or everything.
    if patterns and "mode" not in value:
        raise BadRequest("Invalid modelAccess: patterns need a mode, allow or deny")
    if value.get("mode", "all") != "all" and "patterns" not in value:
        raise BadRequest(f"Invalid modelAccess: mode {value['mode']} needs patterns")
    if not isinstance(patterns, list) or len(patterns) > MOST_PATTERNS:
        raise BadRequest(f"Invalid modelAccess: at most {MOST_PATTERNS} patterns are possible")
    for one in patterns:
        if not isinstance(one, str) or not one.strip() or len(one) > LONGEST_PATTERN:
            raise BadRequest(
                f"Invalid modelAccess: a pattern has 1 to {LONGEST_PATTERN} characters"
            )
    return {**value, "mode": value.get("mode", "all"), "patterns": [p.strip() for p in patterns]}


def read(stored: Mapping[str, Any], daily_tokens: int | None = None) -> Policy:
    """A stored policy, ready for use. Nothing in it raises: what was checked once is sound, and
    what is not (an old row, an import) allows no model at all."""
    try:
        sound = checked(stored)
    except BadRequest:
        return Policy(mode="allow")
    access = sound.get("modelAccess") or {}
    return Policy(
        allowed_models=frozenset(sound.get("allowedModels") or ()),
        allow_auto_combos=sound.get("allowAutoCombos") is not False,
        mode=access.get("mode", "all"),
        patterns=tuple(map(glob, access.get("patterns", ()))),
        max_tokens=sound.get("maxTokens"),
        max_cost=_micro(sound.get("maxCostUsd")),
        rpm=sound.get("rpmLimit"),
        tpm=sound.get("tpmLimit"),
        daily_tokens=daily_tokens or None,
        daily_input=sound.get("dailyInputTokenLimit"),
        daily_output=sound.get("dailyOutputTokenLimit"),
        monthly_tokens=sound.get("monthlyTokenLimit"),
        monthly_input=sound.get("monthlyInputTokenLimit"),
        monthly_output=sound.get("monthlyOutputTokenLimit"),
        monthly_requests=sound.get("monthlyRequestLimit"),
        monthly_budget=_micro(sound.get("monthlyBudget")),
    )


def _micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * _MICRO)
