"""The list of prices: the plugins' prices, overridden by the operator's.

US dollars per million tokens, by the provider's short name and the model's id. ``units`` holds
prices of single pictures, seconds, queries and the like.
"""

from collections.abc import Mapping
from typing import Any

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.usage import Price

from ..admin_context import AdminContext

FIELDS = {
    "input": "input",
    "output": "output",
    "cached": "cached",
    "reasoning": "reasoning",
    "cache_creation": "cache_write",
}
"""Names in the list, and their fields of ``Price``."""
NEEDED = ("input", "output")
UNITS = "units"
MOST_UNITS = 64
LARGEST = 1_000_000.0
LONGEST_NAME = 256
MOST_MODELS = 5000
Rates = Mapping[str, Any]
Prices = dict[str, dict[str, Rates]]
"""By provider and model."""


def built_in(admin: AdminContext) -> Prices:
    """Return the plugins' prices by provider id."""
    prices: Prices = {}
    for spec in admin.snapshot.registry.providers.values():
        rows = {row.id: rates_of(row.price) for row in spec.models if row.price is not None}
        if rows:
            prices[spec.id] = rows
    return prices


def rates_of(price: Price) -> Rates:
    rates = {name: getattr(price, field) for name, field in FIELDS.items()}
    shown: dict[str, Any] = {name: rate for name, rate in rates.items() if rate is not None}
    return {**shown, UNITS: dict(price.units)} if price.units else shown


def merge(own: Mapping[str, Mapping[str, Rates]], others: Prices) -> Prices:
    """Merge two lists; each rate of ``own`` wins."""
    result = {provider: dict(models) for provider, models in others.items()}
    for provider, models in own.items():
        prices = result.setdefault(provider, {})
        for model, rates in models.items():
            prices[model] = {**prices.get(model, {}), **rates}
    return result


def full_list(admin: AdminContext, own: Mapping[str, Mapping[str, Rates]]) -> Prices:
    """Return the whole list by the providers' prefixes."""
    return {admin.prefix(id): models for id, models in merge(own, built_in(admin)).items()}


def read_change(admin: AdminContext, body: Mapping[str, Any]) -> Prices:
    """Read a change by provider id. Raises BadRequest for an invalid price."""
    change: Prices = {}
    for provider, models in body.items():
        _check_name(provider, "provider")
        if not isinstance(models, Mapping):
            raise BadRequest(f"Invalid pricing for {provider}")
        prices = change.setdefault(admin.provider_id(provider), {})
        for model, rates in models.items():
            _check_name(model, "model")
            prices[model] = _check_rates(rates, f"{provider}/{model}")
    return change


def apply_change(admin: AdminContext, own: Mapping[str, Any], change: Prices) -> Prices:
    """Apply a change. Raises BadRequest where a price would lack input or output."""
    after = merge(change, {provider: dict(models) for provider, models in own.items()})
    others = built_in(admin)
    for provider, models in change.items():
        for model in models:
            price = {**others.get(provider, {}).get(model, {}), **after[provider][model]}
            if UNITS not in price and not all(name in price for name in NEEDED):
                raise BadRequest(f"Pricing for {model} needs both input and output")
            after[provider][model] = price
    if sum(map(len, after.values())) > MOST_MODELS:
        raise BadRequest(f"At most {MOST_MODELS} models can have a price of their own")
    return after


def _check_name(name: str, what: str) -> None:
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(f"Invalid {what} name")


def _check_rates(rates: Any, where: str) -> Rates:
    """Return the rates as floats. Raises BadRequest, naming ``where``."""
    if not isinstance(rates, Mapping) or not rates:
        raise BadRequest(f"Invalid pricing for {where}")
    checked: dict[str, Any] = {}
    for name, rate in rates.items():
        if name == UNITS:
            checked[UNITS] = _check_units(rate, where)
        elif name in FIELDS:
            checked[name] = _check_rate(name, rate, where)
        else:
            raise BadRequest(f"Invalid pricing field for {where}: {name[:64]}")
    return checked


def _check_units(units: Any, where: str) -> dict[str, float]:
    if not isinstance(units, Mapping) or not units or len(units) > MOST_UNITS:
        raise BadRequest(f"Invalid units price for {where}")
    for name in units:
        _check_name(name, "unit")
    return {name: _check_rate(name, rate, where) for name, rate in units.items()}


def _check_rate(name: str, rate: Any, where: str) -> float:
    if isinstance(rate, bool) or not isinstance(rate, int | float):
        raise BadRequest(f"Invalid {name} price for {where}: it must be a number")
    # Written so that NaN fails too.
    if not 0 <= rate <= LARGEST:
        raise BadRequest(f"Invalid {name} price for {where}: 0 to {LARGEST:.0f} is possible")
    return float(rate)
