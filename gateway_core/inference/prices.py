"""What a call cost, in millionths of a dollar.

The operator's price comes first, then the plugin's, then the table of the
``genai-prices`` package, which is loaded only when a row first needs it.
"""

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from ..contracts.provider import Target
from ..contracts.usage import Price, Usage

MICRO = 1_000_000
_UNITS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
"""Our rates, by the price table's names for them."""
_PER_REQUEST = "requests_kcount"


class Listing(Enum):
    """Why a model has no plain price in the table."""

    UNLISTED = "unlisted"
    VARIED = "varied"
    """It depends on the amount or on the time of day."""


UNLISTED, VARIED = Listing.UNLISTED, Listing.VARIED


class Prices:
    """Finds prices and remembers what it found."""

    def __init__(self) -> None:
        self._own: Mapping[str, Any] = {}
        self._is_loaded = False
        self._plain: dict[tuple[str, str], Price | Listing] = {}
        """What the price table says of a provider's model."""

    def replace(self, own: Mapping[str, Any]) -> None:
        """Take the operator's prices: provider id or alias, to model id, to USD per million."""
        self._own = own

    def cost(self, target: Target, usage: Usage) -> int | None:
        """Millionths of a dollar, or ``None`` when nobody knows the price."""
        if target.provider.free:
            return 0
        price = self._operators(target) or target.model.price
        return priced(price, usage) if price is not None else self._listed(target, usage)

    def _operators(self, target: Target) -> Price | None:
        spec = target.provider
        for name in (spec.id, spec.alias, *spec.aliases):
            row = (self._own.get(name) or {}).get(target.model.id) if name else None
            if isinstance(row, Mapping) and {"input", "output"} <= row.keys():
                return Price(
                    input=float(row["input"]),
                    output=float(row["output"]),
                    cached=row.get("cached"),
                    cache_write=row.get("cache_creation"),
                    reasoning=row.get("reasoning"),
                )
        return None

    def is_ready(self, target: Target | None) -> bool:
        """Whether a cost can be told without loading the price table first."""
        if self._is_loaded or target is None or target.provider.free:
            return True
        return target.model.price is not None or self._operators(target) is not None

    def prepare(self) -> None:
        """Load the price table, which takes a while. Not for the event loop."""
        import genai_prices  # noqa: F401

        self._is_loaded = True

    def _listed(self, target: Target, usage: Usage) -> int | None:
        if usage.cached_tokens + usage.cache_write_tokens > usage.input_tokens:
            return None  # counts that cannot be: more from the cache than there was to read
        key = (target.provider.id, target.model.id)
        if key not in self._plain:
            self._plain[key] = _plain_price(*key)
        plain = self._plain[key]
        if isinstance(plain, Price):
            return priced(plain, usage)
        return None if plain is UNLISTED else _calculated(*key, usage)


def _calculated(provider: str, model: str, usage: Usage) -> int | None:
    """By the price table's own arithmetic; ``None`` for what it cannot price."""
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        found = genai_prices.calc_price(counted, model_ref=model, provider_id=provider)
    except (LookupError, ValueError):  # not listed, or counts that cannot be
        return None
    return round(found.total_price * MICRO)


def _plain_price(provider: str, model: str) -> Price | Listing:
    """A model's price where it is the same at any time and for any amount."""
    import genai_prices

    one = genai_prices.Usage(input_tokens=1, output_tokens=1)
    try:
        found = genai_prices.calc_price(one, model_ref=model, provider_id=provider)
    except LookupError:
        return UNLISTED
    listed = vars(found.model_price)
    rates = {name: listed.get(unit) for name, unit in _UNITS.items()}
    is_plain = all(rate is None or isinstance(rate, Decimal) for rate in rates.values())
    always = not isinstance(found.model.prices, list) and listed.get(_PER_REQUEST) is None
    if not (is_plain and always) or rates["input"] is None or rates["output"] is None:
        return VARIED
    return Price(**{name: float(rate) for name, rate in rates.items() if rate is not None})


def priced(price: Price, usage: Usage) -> int:
    """Each class of tokens at its own rate, which falls back to ``input`` or ``output``."""
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    reasoning = price.output if price.reasoning is None else price.reasoning
    fresh = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
    spoken = max(0, usage.output_tokens - usage.reasoning_tokens)
    return round(
        fresh * price.input
        + usage.cached_tokens * cached
        + usage.cache_write_tokens * written
        + spoken * price.output
        + usage.reasoning_tokens * reasoning
    )
