"""A public table of list prices, as it was when this version was made.

``list_prices.json`` is written by ``tools/list_prices.py`` from the package
``genai-prices``, whose rules for names are kept: the first provider whose id
or pattern fits, in it the first model whose pattern fits, then the models of
those whose models it offers too. It is read when a price is first asked for.
"""

import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from ..contracts.usage import Price, Usage

NAME = "list_prices.json"
_DATED = re.compile(r"-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")
"""A date in a model's name, which the table writes with hyphens."""

Rate = float | tuple[tuple[int, float], ...] | None
"""US dollars per million tokens; where it depends on the length of the prompt, above how many
tokens which rate counts for all of them, in order."""


class Rates(Struct, frozen=True, array_like=True):
    """What a model costs at a time: ``when`` is empty for always, a date from which on, or two
    times of a day in UTC, ``16:30:00-00:30:00``."""

    when: str
    input: Rate = None
    output: Rate = None
    cached: Rate = None
    cache_write: Rate = None
    requests: float = 0
    """US dollars for a thousand requests."""


class ListedModel(Struct, frozen=True, array_like=True):
    """A model: the pattern of its names, and its rates, of which the last that are due count."""

    match: list[Any]
    rates: tuple[Rates, ...]


class ListedProvider(Struct, frozen=True):
    """A provider. ``models`` is JSON, a list of ``ListedModel``."""

    id: str
    models: msgspec.Raw
    match: list[Any] = []
    others: tuple[str, ...] = ()
    """Providers whose models it offers too."""


_decode_models = msgspec.json.Decoder(tuple[ListedModel, ...]).decode
_FITS: Mapping[str, Callable[[str, Any], bool]] = {
    "=": lambda text, operand: text == operand,
    "^": lambda text, operand: text.startswith(operand),
    "$": lambda text, operand: text.endswith(operand),
    "in": lambda text, operand: operand in text,
    "re": lambda text, operand: re.search(operand, text) is not None,
    "or": lambda text, parts: any(fits(part, text) for part in parts),
    "and": lambda text, parts: all(fits(part, text) for part in parts),
}


def fits(match: Sequence[Any], text: str) -> bool:
    """Whether a pattern fits a text in small letters; an empty one never does."""
    return bool(match) and _FITS[match[0]](text, match[1])


def read_table() -> tuple[ListedProvider, ...]:
    content = pkgutil.get_data(__package__, NAME)
    return msgspec.json.decode(content or b"[]", type=tuple[ListedProvider, ...])


def listed(table: Sequence[ListedProvider], provider: str, model: str) -> tuple[Rates, ...] | None:
    """The rates of a provider's model; ``None`` when it is not listed."""
    name = provider.lower().strip()
    # An id wins over every pattern, also over that of a provider further up.
    home = next((each for each in table if each.id == name), None)
    home = home or next((each for each in table if fits(each.match, name)), None)
    if home is None:
        return None
    by_id = {each.id: each for each in table}
    homes = [home, *(by_id[name] for name in home.others if name in by_id)]
    model = model.lower()
    # The table writes a date with hyphens; a name without them is tried as it is first.
    for name in dict.fromkeys((model, _DATED.sub(r"-\1-\2-\3", model))):
        for each in homes:
            for one in _decode_models(each.models):
                if fits(one.match, name):
                    return one.rates
    return None


def due(rates: Sequence[Rates], now: float) -> Rates:
    """The last that are due at a moment, else the first."""
    moment = datetime.fromtimestamp(now, UTC)
    return next((each for each in reversed(rates) if _is_due(each.when, moment)), rates[0])


def _is_due(when: str, moment: datetime) -> bool:
    if ":" not in when:
        return moment.date().isoformat() >= when
    start, _, end = when.partition("-")
    # A period whose end is before its start goes over midnight.
    time = moment.time().isoformat()
    return time >= start or time < end if end < start else start <= time < end


def flat_price(rates: Sequence[Rates]) -> Price | None:
    """Rates as a price, where they are the same at any time and for any amount."""
    only = rates[0]
    flat = [rate for rate in _tokens(only) if not isinstance(rate, tuple)]
    if len(rates) > 1 or len(flat) < len(_tokens(only)) or only.requests:
        return None
    if flat[0] is None:
        return None
    # Embeddings have no output.
    return Price(input=flat[0], output=flat[1] or 0, cached=flat[2], cache_write=flat[3])


def price_at(rates: Rates, prompt: int) -> Price:
    """The price of a call whose prompt has so many tokens."""
    fresh, output, cached, written = (_at(rate, prompt) for rate in _tokens(rates))
    return Price(input=fresh or 0, output=output or 0, cached=cached, cache_write=written)


def thresholds(rates: Rates) -> tuple[int, ...]:
    """Above how many tokens of a prompt a rate changes, in order."""
    tiers = (rate for rate in _tokens(rates) if isinstance(rate, tuple))
    return tuple(sorted({above for tier in tiers for above, _ in tier[1:]}))


def list_cost(rates: Rates, usage: Usage) -> int:
    """Millionths of a dollar. A class of tokens without a rate costs what its whole costs."""
    prompt = usage.input_tokens
    fresh, output, cached, written = (_at(rate, prompt) for rate in _tokens(rates))
    total = rates.requests * 1000 + usage.output_tokens * (output or 0)
    rest = prompt
    for count, rate in ((usage.cached_tokens, cached), (usage.cache_write_tokens, written)):
        if rate is not None:
            rest -= count
            total += count * rate
    return round(total + rest * (fresh or 0))


def _tokens(rates: Rates) -> tuple[Rate, Rate, Rate, Rate]:
    return rates.input, rates.output, rates.cached, rates.cache_write


def _at(rate: Rate, prompt: int) -> float | None:
    """What a rate is for a prompt of so many tokens."""
    if not isinstance(rate, tuple):
        return rate
    return next((price for above, price in reversed(rate) if prompt > above), rate[0][1])
