"""What a call cost, in millionths of a dollar.

A model's price has three sources, rate by rate: the operator's rates over the plugin's price, and
these over the public table of list prices, which is read only when a price is first needed from it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from ..contracts.provider import Target
from ..contracts.usage import Price, Usage
from .list_prices import (
    ListedProvider,
    Rates,
    due,
    flat_price,
    list_cost,
    listed,
    price_at,
    read_table,
    thresholds,
)

MICRO = 1_000_000
MOST_REMEMBERED = 10_000
"""Models whose list prices are remembered; clients may send any name."""
FIELDS: Mapping[str, str] = {
    "input": "input",
    "output": "output",
    "cached": "cached",
    "reasoning": "reasoning",
    "cache_creation": "cache_write",
}
"""Names of rates in the operator's document, and their fields of ``Price``."""
NEEDED = frozenset({"input", "output"})
"""Rates without which nothing is priced."""
Source = Literal["operator", "plugin", "list"]
Entry = Price | tuple[Rates, ...]
"""A price of the table: one, or several that depend on the amount or on the time."""


class PriceInUse(Struct, frozen=True, kw_only=True):
    """The price that a call has now, and where each rate is from, by its field of ``Price``."""

    price: Price
    sources: Mapping[str, Source]
    longer: tuple[tuple[int, Price], ...] = ()
    """Above how many tokens of a prompt another price applies, in order."""
    requests: float = 0
    """US dollars for a thousand requests, on top of the tokens."""


class Prices:
    """Looks prices up and remembers those of the table."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._own: Mapping[str, Mapping[str, Mapping[str, float]]] = {}
        self._table: Sequence[ListedProvider] | None = None
        self._listed: dict[tuple[str, str], Entry | None] = {}
        """The table's entry for a provider's model; ``None`` when it has none."""

    def replace(self, own: Mapping[str, Any]) -> None:
        """Take the operator's prices: provider id or alias, to model id, to USD per million."""
        self._own = {
            provider: {model: read_rates(row) for model, row in models.items()}
            for provider, models in own.items()
            if isinstance(models, Mapping)
        }

    def cost(self, target: Target, usage: Usage) -> int | None:
        """Millionths of a dollar, or ``None`` when nobody knows the price."""
        if target.provider.free:
            return 0
        own = self._operators(target) if self._own else None
        price, fee = target.model.price, 0
        if price is None:
            if usage.cached_tokens + usage.cache_write_tokens > usage.input_tokens:
                return None  # counts that cannot be: more from the cache than there was to read
            entry = self._entry(target)
            if isinstance(entry, tuple):
                rates = due(entry, self._clock())
                if own is None:
                    return list_cost(rates, usage)
                price, fee = price_at(rates, usage.input_tokens), round(rates.requests * 1000)
            else:
                price = entry
        if own is not None:
            price = overlay(price, own)
        return None if price is None else price_usage(price, usage) + fee

    def is_known(self, target: Target) -> bool:
        """Whether a call of this model has a price."""
        return target.provider.free or self.in_use(target) is not None

    def in_use(self, target: Target, own: Mapping[str, float] | None = None) -> PriceInUse | None:
        """The price of a model now; ``own`` are the operator's rates, those in force if unset."""
        own = (self._operators(target) or {}) if own is None else own
        below, requests = target.model.price, 0.0
        longer: tuple[tuple[int, Price], ...] = ()
        source: Source = "plugin"
        if below is None:
            entry, source = self._entry(target), "list"
            if isinstance(entry, tuple):
                rates = due(entry, self._clock())
                below, requests = price_at(rates, 0), rates.requests
                longer = tuple((above, price_at(rates, above + 1)) for above in thresholds(rates))
            else:
                below = entry
        price = overlay(below, own)
        if price is None:
            return None
        rates_shown = (name for name, rate in asdict(price).items() if rate is not None)
        return PriceInUse(
            price=price,
            sources={name: "operator" if name in own else source for name in rates_shown},
            longer=tuple((above, replace(each, **own)) for above, each in longer),
            requests=requests,
        )

    def _entry(self, target: Target) -> Entry | None:
        """The table's price of a model."""
        name = target.provider.id, target.model.id
        try:
            return self._listed[name]
        except KeyError:
            if self._table is None:
                self._table = read_table()
            if len(self._listed) >= MOST_REMEMBERED:
                self._listed.clear()
            rates = listed(self._table, *name)
            entry = self._listed[name] = None if rates is None else flat_price(rates) or rates
            return entry

    def _operators(self, target: Target) -> Mapping[str, float] | None:
        """The operator's rates for a model, by their fields of ``Price``."""
        spec = target.provider
        for name in (spec.id, spec.alias, *spec.aliases):
            rates = self._own.get(name, {}).get(target.model.id) if name else None
            if rates:
                return rates
        return None


def read_rates(row: Any) -> Mapping[str, float]:
    """The rates of a stored row by their fields of ``Price``."""
    if not isinstance(row, Mapping):
        return {}
    return {
        FIELDS[name]: float(rate)
        for name, rate in row.items()
        if name in FIELDS and isinstance(rate, int | float)
    }


def overlay(price: Price | None, own: Mapping[str, float]) -> Price | None:
    """A price with some rates replaced; ``None`` without a price and both needed rates."""
    if price is not None:
        return replace(price, **own)
    return Price(**own) if own.keys() >= NEEDED else None


def price_usage(price: Price, usage: Usage) -> int:
    """Each class of tokens at its own rate, which falls back to ``input`` or ``output``."""
    if not (usage.cached_tokens or usage.cache_write_tokens or usage.reasoning_tokens):
        return round(usage.input_tokens * price.input + usage.output_tokens * price.output)
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    reasoning = price.output if price.reasoning is None else price.reasoning
    fresh = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
    answer = max(0, usage.output_tokens - usage.reasoning_tokens)
    return round(
        fresh * price.input
        + usage.cached_tokens * cached
        + usage.cache_write_tokens * written
        + answer * price.output
        + usage.reasoning_tokens * reasoning
    )
