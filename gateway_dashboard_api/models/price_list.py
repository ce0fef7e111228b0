"""The list of prices in use: the operator's rates over the plugins' and over the table's.

US dollars per million tokens, by the provider's short name and the model's id. ``units`` holds
prices of single pictures, seconds, queries and the like.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.model import Model
from gateway_core.contracts.provider import ProviderSpec, Target
from gateway_core.contracts.usage import Price
from gateway_core.metering.prices import FIELDS, NEEDED, UNITS, PriceInUse, Source, read_rates

from ..accounts.owners import provider_of
from ..admin_context import AdminContext

MOST_UNITS = 64
LARGEST = 1_000_000.0
LONGEST_NAME = 256
MOST_MODELS = 5000
Rates = Mapping[str, Any]
"""Numbers by name; below ``units`` a mapping of them."""
Own = Mapping[str, Mapping[str, Rates]]
"""The operator's rates, by provider id and model."""


class RatesBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars per million tokens; what is left out stays."""

    input: float | UnsetType = UNSET
    output: float | UnsetType = UNSET
    cached: float | UnsetType = UNSET
    reasoning: float | UnsetType = UNSET
    cache_creation: float | UnsetType = UNSET
    units: dict[str, float] | UnsetType = UNSET
    """US dollars for one of each unit."""


class LongPromptRates(RatesBody, frozen=True, kw_only=True, omit_defaults=True):
    """The rates of a call whose prompt has more tokens than ``above``."""

    above: int


class PriceRow(RatesBody, frozen=True, kw_only=True, omit_defaults=True):
    """The rates in use, and who set each."""

    requests: float | UnsetType = UNSET
    """US dollars for a thousand requests, on top of the tokens."""
    long_prompts: tuple[LongPromptRates, ...] | UnsetType = msgspec.field(
        default=UNSET, name="longPrompts"
    )
    source: dict[str, Source]
    """By rate."""


Prices = dict[str, dict[str, PriceRow]]


def list_prices(admin: AdminContext, own: Own, provider: str | None = None) -> Prices:
    """Return the prices in use by the providers' prefixes, of one provider or of all.

    The table's prices, which are thousands, are shown of connected providers only, and of the one
    that is named.
    """
    providers = admin.snapshot.registry.providers
    # Rates stay stored when the plugin of their provider is removed.
    lost = (ProviderSpec(id=each, name=each) for each in own if each not in providers)
    prices: Prices = {}
    for spec in (*providers.values(), *lost):
        if spec.free or provider not in (None, spec.id):
            continue
        listed = provider is not None or admin.snapshot.connected(spec.id)
        rows = dict(_rows(admin, spec, own.get(spec.id, {}), listed=listed))
        if rows:
            prices[admin.prefix(spec.id)] = rows
    return prices


def _rows(
    admin: AdminContext, spec: ProviderSpec, own: Mapping[str, Rates], *, listed: bool
) -> Iterator[tuple[str, PriceRow]]:
    models = {row.id: row for row in (*spec.models, *admin.snapshot.models.get(spec.id, ()))}
    for name in dict.fromkeys((*models, *own)):
        model = models.get(name) or Model(name)
        if listed or name in own or model.price is not None:
            price = admin.core.prices.in_use(Target(spec, model), read_rates(own.get(name)))
            if price is not None:
                yield name, price_row(price)


def price_row(price: PriceInUse) -> PriceRow:
    longer = tuple(LongPromptRates(above=above, **_rates(each)) for above, each in price.longer)
    fields = {**FIELDS, UNITS: UNITS}
    sources = {name: price.sources.get(field) for name, field in fields.items()}
    return PriceRow(
        **_rates(price.price),
        requests=price.requests or UNSET,
        long_prompts=longer or UNSET,
        source={name: source for name, source in sources.items() if source is not None},
    )


def _rates(price: Price) -> dict[str, Any]:
    rates = {name: getattr(price, field) for name, field in FIELDS.items()}
    shown: dict[str, Any] = {name: rate for name, rate in rates.items() if rate is not None}
    return {**shown, UNITS: dict(price.units)} if price.units else shown


_SHOWN = {*PriceRow.__struct_encode_fields__} - {*FIELDS, UNITS}
"""Members that the list shows beside the rates, and no change sets."""


async def read_change(admin: AdminContext, body: Mapping[str, Any]) -> dict[str, dict[str, Rates]]:
    """Read a change by provider id. Raises BadRequest: unknown provider, invalid price."""
    change: dict[str, dict[str, Rates]] = {}
    for provider, models in body.items():
        _check_name(provider, "provider")
        if not isinstance(models, Mapping):
            raise BadRequest(f"Invalid pricing for {provider}")
        prices = change.setdefault(await provider_of(admin, provider), {})
        for model, rates in models.items():
            _check_name(model, "model")
            prices[model] = _check_rates(rates, f"{provider}/{model}")
    return change


def apply_change(
    admin: AdminContext, own: Own, change: Mapping[str, Mapping[str, Rates]]
) -> dict[str, dict[str, Rates]]:
    """Apply a change; rates that it leaves out stay as they are. Raises BadRequest."""
    after = {provider: dict(models) for provider, models in own.items()}
    for provider, models in change.items():
        rows = after.setdefault(provider, {})
        for model, rates in models.items():
            rows[model] = _merge(rows.get(model, {}), rates)
            _check_complete(admin, provider, model, rows[model])
    if sum(map(len, after.values())) > MOST_MODELS:
        raise BadRequest(f"At most {MOST_MODELS} models can have a price of their own")
    return after


def _merge(before: Rates, rates: Rates) -> Rates:
    if UNITS in before and UNITS in rates:
        return {**before, **rates, UNITS: {**before[UNITS], **rates[UNITS]}}
    return {**before, **rates}


def _check_complete(admin: AdminContext, provider: str, model: str, rates: Rates) -> None:
    """Raises BadRequest where neither these rates nor a known price have input and output."""
    if rates.keys() >= NEEDED or UNITS in rates:
        return
    spec = admin.spec(provider)
    if spec is not None:
        rows: Iterable[Model] = (*admin.snapshot.models.get(provider, ()), *spec.models)
        row = next((row for row in rows if row.id == model), Model(model))
        if admin.core.prices.in_use(Target(spec, row), read_rates(rates)) is not None:
            return
    raise BadRequest(f"Pricing for {model} needs both input and output")


def _check_name(name: str, what: str) -> None:
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(f"Invalid {what} name")


def _check_rates(rates: Any, where: str) -> Rates:
    """Return the rates as floats. Raises BadRequest, naming ``where``."""
    if not isinstance(rates, Mapping):
        raise BadRequest(f"Invalid pricing for {where}")
    rates = {name: rate for name, rate in rates.items() if name not in _SHOWN}
    if not rates:
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
