"""What a call cost, in millionths of a dollar.

A model's price has three sources, rate by rate: the operator's rates over the plugin's price, and
these over the public table of list prices, which is read only when a price is first needed from it.
A dated name, one that chooses how a model is served, and a fine-tuned model without a price of
their own cost what the model they are made of costs.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
"""Models whose prices are remembered; clients may send any name."""
FIELDS: Mapping[str, str] = {
    "input": "input",
    "output": "output",
    "cached": "cached",
    "reasoning": "reasoning",
    "cache_creation": "cache_write",
}
"""Names of rates in the operator's document, and their fields of ``Price``."""
UNITS = "units"
NEEDED = frozenset({"input", "output"})
"""Rates without which no tokens are priced."""
Source = Literal["operator", "plugin", "list"]
Entry = Price | tuple[Rates, ...]
"""A price: one, or several of the table that depend on the amount or on the time."""
_FINE_TUNED = re.compile(r"^ft:([^:]+):.*")
"""``ft:<model>:<owner>:<name>:<id>``"""
_SERVED = re.compile(r":(?!free$)[^:/]+$")
"""How a router is to serve the model. ``:free`` is a price of its own."""
_DATED = re.compile(r"[-@](?:20\d\d-?\d\d-?\d\d|\d\d-20\d\d|\d\d-?\d\d|latest)$")


class PriceInUse(Struct, frozen=True, kw_only=True):
    """The price that a call has now, and where each rate is from, by its field of ``Price``."""

    price: Price
    sources: Mapping[str, Source]
    longer: tuple[tuple[int, Price], ...] = ()
    """Above how many tokens of a prompt another price applies, in order."""
    requests: float = 0
    """US dollars for a thousand requests, on top of the tokens."""


class Prices:
    """Looks prices up and remembers them."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._own: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}
        self._operators: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        """The operator's rates of a provider's model, as far as they were looked up."""
        self._table: Sequence[ListedProvider] | None = None
        self._usual: dict[tuple[str, str], tuple[Entry, Source] | None] = {}
        """The price of a provider's model that has none in its row, and where it is from."""

    def replace(self, own: Mapping[str, Any]) -> None:
        """Take the operator's prices: provider id or alias, to model id, to USD per million."""
        self._operators = {}
        self._own = {
            provider: {model: read_rates(row) for model, row in models.items()}
            for provider, models in own.items()
            if isinstance(models, Mapping)
        }

    def cost(self, target: Target, usage: Usage) -> int | None:
        """Millionths of a dollar, or ``None`` when nobody knows the price."""
        if target.provider.free:
            return 0
        if usage.units is not None:
            return self._cost_of_units(target, usage.units, usage)
        own = self._rates(target) if self._own else None
        price, fee = target.model.price, 0
        if price is None:
            if usage.cached_tokens + usage.cache_write_tokens > usage.input_tokens:
                return None  # counts that cannot be: more from the cache than there was to read
            entry, _ = self._find_usual(target) or (None, None)
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

    def _cost_of_units(
        self, target: Target, units: Mapping[str, float], usage: Usage
    ) -> int | None:
        """Tokens, where the vendor counts them, and units; unknown where neither has a price."""
        price = self.in_use(target)
        rates = (price.price.units if price is not None else None) or {}
        priced = [(unit_rate(rates, name), amount) for name, amount in units.items()]
        known = [rate * amount for rate, amount in priced if rate is not None]
        tokens: int | None = None
        if usage.input_tokens or usage.output_tokens:
            tokens = self.cost(target, replace(usage, units=None))
        if not known:
            return tokens
        return (tokens or 0) + round(sum(known) * MICRO)

    def is_known(self, target: Target) -> bool:
        """Whether a call of this model has a price."""
        return target.provider.free or self.in_use(target) is not None

    def in_use(self, target: Target, own: Mapping[str, Any] | None = None) -> PriceInUse | None:
        """The price of a model now; ``own`` are the operator's rates, those in force if unset."""
        own = (self._rates(target) or {}) if own is None else own
        below, requests = target.model.price, 0.0
        longer: tuple[tuple[int, Price], ...] = ()
        source: Source = "plugin"
        if below is None and (usual := self._find_usual(target)) is not None:
            entry, source = usual
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

    def _find_usual(self, target: Target) -> tuple[Entry, Source] | None:
        name = target.provider.id, target.model.id
        try:
            return self._usual[name]
        except KeyError:
            if len(self._usual) >= MOST_REMEMBERED:
                self._usual.clear()
            usual = self._usual[name] = self._look_up(target)
            return usual

    def _look_up(self, target: Target) -> tuple[Entry, Source] | None:
        """The plugin's price of the model that a name is made of, else the table's."""
        spec, names = target.provider, list(priced_as(target.model.id))
        by_plugin = {row.id: row.price for row in spec.models if row.price is not None}
        for name in names:
            if name in by_plugin:
                return by_plugin[name], "plugin"
        if self._table is None:
            self._table = read_table()
        for name in names:
            rates = listed(self._table, spec.id, name)
            if rates is not None:
                return flat_price(rates) or rates, "list"
        return None

    def _rates(self, target: Target) -> Mapping[str, Any] | None:
        """The operator's rates for a model, by their fields of ``Price``."""
        key = target.provider.id, target.model.id
        try:
            return self._operators[key]
        except KeyError:
            if len(self._operators) >= MOST_REMEMBERED:
                self._operators.clear()
            spec = target.provider
            models = [self._own.get(n, {}) for n in (spec.id, spec.alias, *spec.aliases) if n]
            rows = (rows.get(name) for name in priced_as(target.model.id) for rows in models)
            rates = self._operators[key] = next(filter(None, rows), None)
            return rates


def priced_as(model: str) -> Iterator[str]:
    """The names whose prices count for a model, the closest first."""
    yield model
    for pattern in (_FINE_TUNED, _SERVED, _DATED):
        plain = pattern.sub(r"\1" if pattern is _FINE_TUNED else "", model)
        if plain and plain != model:
            yield plain
            model = plain


def unit_rate(rates: Mapping[str, float], name: str) -> float | None:
    """The price of a unit, or of the coarser unit that it is one of."""
    while name:
        if name in rates:
            return rates[name]
        name = name.rpartition("/")[0]
    return None


def read_rates(row: Any) -> Mapping[str, Any]:
    """The rates of a stored row by their fields of ``Price``."""
    if not isinstance(row, Mapping):
        return {}
    rates: dict[str, Any] = {
        FIELDS[name]: float(rate)
        for name, rate in row.items()
        if name in FIELDS and isinstance(rate, int | float)
    }
    if isinstance(units := row.get(UNITS), Mapping):
        rates[UNITS] = units
    return rates


def overlay(price: Price | None, own: Mapping[str, Any]) -> Price | None:
    """A price with some rates replaced; ``None`` without a price and both needed rates."""
    if price is not None:
        if UNITS in own and price.units is not None:
            own = {**own, UNITS: {**price.units, **own[UNITS]}}
        return replace(price, **own)
    if own.keys() >= NEEDED or UNITS in own:
        return Price(**{"input": 0.0, "output": 0.0, **own})
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
