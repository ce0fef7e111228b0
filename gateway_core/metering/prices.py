"""What a call cost, in millionths of a dollar.

The operator's price comes first, then the plugin's, then the public table of
list prices, which is read only when a row first needs it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..contracts.provider import Target
from ..contracts.usage import Price, Usage
from .list_prices import (
    ListedProvider,
    Rates,
    due,
    flat_price,
    list_cost,
    listed,
    read_table,
)

MICRO = 1_000_000
_NEEDED = {"input", "output"}
MOST_REMEMBERED = 10_000
"""Models whose list prices are remembered; clients may send any name."""


class Prices:
    """Looks prices up and remembers those of the list."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._own: Mapping[str, Any] = {}
        self._table: Sequence[ListedProvider] | None = None
        self._listed: dict[tuple[str, str], Price | tuple[Rates, ...] | None] = {}
        """The table's entry for a provider's model: a price, or several that depend on the
        amount or on the time; ``None`` when it has none."""

    def replace(self, own: Mapping[str, Any]) -> None:
        """Take the operator's prices: provider id or alias, to model id, to USD per million."""
        self._own = own

    def cost(self, target: Target, usage: Usage) -> int | None:
        """Millionths of a dollar, or ``None`` when nobody knows the price."""
        if target.provider.free:
            return 0
        price = (self._operators(target) if self._own else None) or target.model.price
        if usage.units is not None:
            return self._cost_of_units(target, price, usage)
        if price is not None:
            return price_usage(price, usage)
        return self._listed_cost(target, usage)

    def _cost_of_units(self, target: Target, price: Price | None, usage: Usage) -> int | None:
        """Tokens, where the vendor counts them, and units; unknown where neither has a price."""
        rates = price.units if price is not None and price.units is not None else {}
        found = [(unit_rate(rates, name), amount) for name, amount in (usage.units or {}).items()]
        known = [rate * amount for rate, amount in found if rate is not None]
        tokens: int | None = None
        if usage.input_tokens or usage.output_tokens:
            tokens = (
                self._listed_cost(target, usage) if price is None else price_usage(price, usage)
            )
        if not known:
            return tokens
        return (tokens or 0) + round(sum(known) * MICRO)

    def _listed_cost(self, target: Target, usage: Usage) -> int | None:
        if usage.cached_tokens + usage.cache_write_tokens > usage.input_tokens:
            return None  # counts that cannot be: more from the cache than there was to read
        name = target.provider.id, target.model.id
        try:
            entry = self._listed[name]
        except KeyError:
            if self._table is None:
                self._table = read_table()
            if len(self._listed) >= MOST_REMEMBERED:
                self._listed.clear()
            rates = listed(self._table, *name)
            entry = self._listed[name] = None if rates is None else flat_price(rates) or rates
        if entry is None:
            return None
        if isinstance(entry, Price):
            return price_usage(entry, usage)
        return list_cost(due(entry, self._clock()), usage)

    def _operators(self, target: Target) -> Price | None:
        spec = target.provider
        for name in (spec.id, spec.alias, *spec.aliases):
            row = (self._own.get(name) or {}).get(target.model.id) if name else None
            if isinstance(row, Mapping) and (row.keys() >= _NEEDED or "units" in row):
                return Price(
                    input=float(row.get("input", 0)),
                    output=float(row.get("output", 0)),
                    cached=row.get("cached"),
                    cache_write=row.get("cache_creation"),
                    reasoning=row.get("reasoning"),
                    units=row.get("units"),
                )
        return None


def unit_rate(rates: Mapping[str, float], name: str) -> float | None:
    """The price of a unit, or of the coarser unit that it is one of."""
    while name:
        if name in rates:
            return rates[name]
        name = name.rpartition("/")[0]
    return None


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
