"""Generates the table of list prices that the gateway ships, from the package ``genai-prices``.

Run it after an update of that package; a test fails while the table is out of date.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from genai_prices import types
from genai_prices.data import providers

FILE = Path(__file__).parents[1] / "gateway_core" / "metering" / "list_prices.json"
UNITS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "requests_kcount")
WORDS: dict[type, tuple[str, str]] = {
    types.ClauseEquals: ("=", "equals"),
    types.ClauseStartsWith: ("^", "starts_with"),
    types.ClauseEndsWith: ("$", "ends_with"),
    types.ClauseContains: ("in", "contains"),
}


def pattern(clause: Any) -> list[Any]:
    """The condition for a model's name, as JSON."""
    if isinstance(clause, types.ClauseRegex):
        return ["re", clause.regex]
    if isinstance(clause, types.ClauseOr):
        return ["or", [pattern(part) for part in clause.or_]]
    if isinstance(clause, types.ClauseAnd):
        return ["and", [pattern(part) for part in clause.and_]]
    word, field = WORDS[type(clause)]
    return [word, getattr(clause, field).lower()]


def rate(price: Any) -> Any:
    if isinstance(price, types.TieredPrices):
        tiers = [[tier.start, number(tier.price)] for tier in price.tiers]
        return [[-1, number(price.base)], *tiers]
    return None if price is None else number(price)


def number(price: Decimal) -> float | int:
    return int(price) if price == int(price) else float(price)


def rates(price: Any, constraint: Any) -> list[Any]:
    """One price with its time of validity, without trailing empty rates."""
    units = [rate(vars(price).get(unit)) for unit in UNITS]
    while units and units[-1] is None:
        units.pop()
    return [when(constraint), *units]


def when(constraint: Any) -> str:
    if constraint is None:
        return ""
    if isinstance(constraint, types.StartDateConstraint):
        return constraint.start_date.isoformat()
    return f"{in_utc(constraint.start_time)}-{in_utc(constraint.end_time)}"


def in_utc(time: Any) -> str:
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    moment = datetime.combine(date(1970, 1, 2), zoned).astimezone(UTC)
    return moment.time().isoformat()


def model(info: Any) -> list[Any]:
    if isinstance(info.prices, list):
        return [
            pattern(info.match),
            [rates(each.prices, each.constraint) for each in info.prices],
        ]
    return [pattern(info.match), [rates(info.prices, None)]]


def lines() -> Iterator[str]:
    """The table, one line for each model."""
    for place, provider in enumerate(providers):
        head: dict[str, Any] = {"id": provider.id}
        if provider.provider_match is not None:
            head["match"] = pattern(provider.provider_match)
        if provider.fallback_model_providers:
            head["others"] = provider.fallback_model_providers
        models = ",\n".join(text(model(each)) for each in provider.models)
        yield f'{"[" if place == 0 else ","}{text(head)[:-1]},"models":[\n{models}]}}\n'
    yield "]\n"


def text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def table() -> str:
    return "".join(lines())


if __name__ == "__main__":
    FILE.write_text(table(), "utf-8")
    sys.stdout.write(f"{FILE}: {sum(len(each.models) for each in providers)} models\n")
