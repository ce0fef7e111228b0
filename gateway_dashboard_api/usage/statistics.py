"""Sums of the ledger as the dashboard shows them: by provider, model, account, key and endpoint.

Money is in dollars from here on.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from gateway_core.identity.keys import MASK

from ..playground.session_key import name_of
from .ledger.sums import Sums

MICRO = 1_000_000
UNKNOWN = "unknown"
"""Stands for the vendor, model or account of a call that was refused before it had one."""
NO_KEY = "local-no-key"
NO_COMBO = "no-combo"
NO_KEY_NAME = "Local (no API key)"
GONE_KEY = "Deleted key"


class Names(Struct, frozen=True):
    """The names of keys, accounts and providers, by id."""

    keys: Mapping[str, str] = {}
    accounts: Mapping[str, str] = {}
    providers: Mapping[str, str] = {}

    def account(self, identity: str) -> str:
        return self.accounts.get(identity, identity)


class Figures(Struct, frozen=True, kw_only=True, rename="camel"):
    """A sum. ``cost`` is in dollars, of the calls whose price is known; the others are counted
    beside it."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float
    unpriced_requests: int
    unpriced_tokens: int


class PartRow(Figures, frozen=True, kw_only=True, rename="camel"):
    """The sum of one provider, model, account, key or endpoint, and what it is of."""

    raw_model: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    connection_id: str | UnsetType | None = UNSET
    account_name: str | UnsetType = UNSET
    api_key_key: str | UnsetType = UNSET
    api_key_masked: str | UnsetType | None = UNSET
    key_name: str | UnsetType = UNSET
    endpoint: str | UnsetType = UNSET
    last_used: str | None


class Stats(Struct, frozen=True, kw_only=True, rename="camel"):
    """A period's sums: each group of parts adds up to the totals."""

    total_requests: int
    total_prompt_tokens: int
    total_completion_tokens: int
    total_cached_tokens: int
    total_cost: float
    total_unpriced_requests: int
    total_unpriced_tokens: int
    by_provider: dict[str, PartRow]
    by_model: dict[str, PartRow]
    by_account: dict[str, PartRow]
    by_api_key: dict[str, PartRow]
    by_endpoint: dict[str, PartRow]


class Part:
    """A running sum."""

    __slots__ = (
        *("cached", "completion", "cost", "last_at", "prompt", "requests"),
        *("unpriced_requests", "unpriced_tokens"),
    )

    def __init__(self) -> None:
        self.requests = self.prompt = self.completion = self.cached = self.cost = 0
        self.unpriced_requests = self.unpriced_tokens = 0
        self.last_at = ""

    def add(self, sums: Sums) -> None:
        self.requests += sums.requests
        self.prompt += sums.input_tokens
        self.completion += sums.output_tokens
        self.cached += sums.cached_tokens
        self.cost += sums.cost
        self.unpriced_requests += sums.unpriced_requests
        self.unpriced_tokens += sums.unpriced_tokens
        self.last_at = max(self.last_at, sums.last_at)

    @property
    def figures(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "cached_tokens": self.cached,
            "cost": dollars(self.cost),
            "unpriced_requests": self.unpriced_requests,
            "unpriced_tokens": self.unpriced_tokens,
        }


Facts = Callable[[Sums], Mapping[str, Any]]


def dollars(micro: int) -> float:
    return micro / MICRO


def summarize(sums: Iterable[Sums], names: Names) -> dict[str, Any]:
    """Compute the members of ``Stats`` from a period's sums."""
    every = list(sums)
    total = Part()
    for each in every:
        total.add(each)
    return {
        **{f"total_{name}": figure for name, figure in total.figures.items()},
        "by_provider": group(every, _provider, lambda one: {}),
        "by_model": group(
            every,
            model_label,
            lambda one: {"raw_model": one.model or UNKNOWN, "provider": _provider(one)},
        ),
        "by_account": group(
            every,
            lambda one: one.connection_id or UNKNOWN,
            lambda one: {
                "connection_id": one.connection_id or None,
                "account_name": names.account(one.connection_id) if one.connection_id else UNKNOWN,
                "provider": _provider(one),
            },
        ),
        "by_api_key": group(
            every,
            _key,
            lambda one: {"api_key_key": _key(one), **key_facts(one.api_key_id or None, names)},
        ),
        "by_endpoint": group(
            every, lambda one: one.endpoint, lambda one: {"endpoint": one.endpoint}
        ),
    }


def group(sums: Iterable[Sums], label: Callable[[Sums], str], facts: Facts) -> dict[str, PartRow]:
    """Add up the sums of each label, the busiest first."""
    parts: dict[str, tuple[Part, Mapping[str, Any]]] = {}
    for each in sums:
        name = label(each)
        if name not in parts:
            parts[name] = Part(), facts(each)
        parts[name][0].add(each)
    busiest = sorted(parts.items(), key=lambda part: (-part[1][0].requests, part[0]))
    return {
        name: PartRow(**part.figures, **about, last_used=part.last_at or None)
        for name, (part, about) in busiest
    }


def _provider(sums: Sums) -> str:
    return sums.provider or UNKNOWN


def model_label(sums: Sums) -> str:
    return label_model(sums.model, sums.provider)


def label_model(model: str | None, provider: str | None) -> str:
    """Label a model with its provider, as the dashboard shows it."""
    return f"{model or UNKNOWN} ({provider or UNKNOWN})"


def _key(sums: Sums) -> str:
    return sums.api_key_id or NO_KEY


def key_facts(identity: str | None, names: Names) -> dict[str, Any]:
    """Describe a key by its name; its text is not available here."""
    if identity is None:
        return {"api_key_masked": None, "key_name": NO_KEY_NAME}
    if (playground := name_of(identity)) is not None:
        return {"api_key_masked": None, "key_name": playground}
    return {"api_key_masked": MASK, "key_name": names.keys.get(identity, GONE_KEY)}
