"""What a call cost, in millionths of a dollar.

The operator's price comes first, then the plugin's, then the table of the
``genai-prices`` package, which is loaded only when a row first needs it.
"""

from collections.abc import Mapping
from typing import Any

from ..contracts.provider import Target
from ..contracts.usage import Price, Usage

MICRO = 1_000_000


class Prices:
    """Finds prices and remembers what it found."""

    def __init__(self) -> None:
        self._own: Mapping[str, Any] = {}
        self._known: dict[tuple[str, str], bool] = {}

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

    def _listed(self, target: Target, usage: Usage) -> int | None:
        import genai_prices  # 0.2 s to import, so not before it is needed

        key = (target.provider.id, target.model.id)
        if self._known.get(key) is False:
            return None
        counted = genai_prices.Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
        try:
            found = genai_prices.calc_price(
                counted, model_ref=target.model.id, provider_id=target.provider.id
            )
        except LookupError:
            self._known[key] = False
            return None
        except ValueError:  # counts that cannot be: more from the cache than there was to read
            return None
        self._known[key] = True
        return round(found.total_price * MICRO)


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
