"""What a call cost, in millionths of a dollar.

The operator's price comes first, then the plugin's, then the public table of
list prices, which is read only when a row first needs it. A dated name, one that
chooses how a model is served, and a fine-tuned model without a price of their
own cost what the model they are made of costs.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""Models whose prices are remembered; clients may send any name."""
_FINE_TUNED = re.compile(r"^ft:([^:]+):.*")
"""``ft:<model>:<owner>:<name>:<id>``"""
_SERVED = re.compile(r":(?!free$)[^:/]+$")
"""How a router is to serve the model. ``:free`` is a price of its own."""
_DATED = re.compile(r"[-@](?:20\d\d-?\d\d-?\d\d|\d\d-20\d\d|\d\d-?\d\d|latest)$")


class Prices:
    """Looks prices up and remembers those of the list."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._own: Mapping[str, Any] = {}
        self._operators: dict[tuple[str, str], Price | None] = {}
        """The operator's price of a provider's model, as far as it was looked up."""
        self._table: Sequence[ListedProvider] | None = None
        self._listed: dict[tuple[str, str], Price | tuple[Rates, ...] | None] = {}
        """The table's entry for a provider's model: a price, or several that depend on the
        amount or on the time; ``None`` when it has none."""

    def replace(self, own: Mapping[str, Any]) -> None:
        """Take the operator's prices: provider id or alias, to model id, to USD per million."""
        self._own, self._operators = own, {}

    def cost(self, target: Target, usage: Usage) -> int | None:
        """Millionths of a dollar, or ``None`` when nobody knows the price."""
        if target.provider.free:
            return 0
        price = (self._operators_price(target) if self._own else None) or target.model.price
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
            if len(self._listed) >= MOST_REMEMBERED:
                self._listed.clear()
            entry = self._listed[name] = self._usual_price(target)
        if entry is None:
            return None
        if isinstance(entry, Price):
            return price_usage(entry, usage)
        return list_cost(due(entry, self._clock()), usage)

    def _usual_price(self, target: Target) -> Price | tuple[Rates, ...] | None:
        """The plugin's price of the model that a name is made of, else the table's."""
        spec, names = target.provider, list(priced_as(target.model.id))
        given = {row.id: row.price for row in spec.models if row.price is not None}
        price = next((given[name] for name in names if name in given), None)
        if price is not None:
            return price
        if self._table is None:
            self._table = read_table()
        for name in names:
            rates = listed(self._table, spec.id, name)
            if rates is not None:
                return flat_price(rates) or rates
        return None

    def _operators_price(self, target: Target) -> Price | None:
        key = target.provider.id, target.model.id
        try:
            return self._operators[key]
        except KeyError:
            if len(self._operators) >= MOST_REMEMBERED:
                self._operators.clear()
            spec = target.provider
            prices = [self._own.get(n) or {} for n in (spec.id, spec.alias, *spec.aliases) if n]
            rows = (rows.get(name) for name in priced_as(target.model.id) for rows in prices)
            price = self._operators[key] = next(filter(None, map(operators_price, rows)), None)
            return price


def priced_as(model: str) -> Iterator[str]:
    """The names whose prices count for a model, the closest first."""
    yield model
    for pattern in (_FINE_TUNED, _SERVED, _DATED):
        plain = pattern.sub(r"\1" if pattern is _FINE_TUNED else "", model)
        if plain and plain != model:
            yield plain
            model = plain


def operators_price(row: Any) -> Price | None:
    """A stored price; ``None`` for one that lacks a side and has no units."""
    if not isinstance(row, Mapping) or not (row.keys() >= _NEEDED or "units" in row):
        return None
    return Price(
        input=float(row.get("input", 0)),
        output=float(row.get("output", 0)),
        cached=row.get("cached"),
        cache_write=row.get("cache_creation"),
        reasoning=row.get("reasoning"),
        units=row.get("units"),
    )


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
