"""Cases about what a call of a service has used, which is what its money is counted from."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from msgspec.structs import replace

from gateway_core import Kind, Model, Usage
from gateway_core.metering.prices import unit_rate
from gateway_kit.case import Case, expect_none

from ..harness import ProviderHarness
from .answers import whole
from .growth import decode_reply
from .service_call import ServiceCall
from .traces import leaves, with_members

SPOKEN = "Grüße, 世界 4735"
KNOWN_FROM: Mapping[str, frozenset[str]] = {
    Kind.IMAGE: frozenset({"images"}),
    Kind.SPEECH: frozenset({"characters"}),
    Kind.RERANK: frozenset({"documents"}),
    Kind.SEARCH: frozenset({"queries"}),
    Kind.FETCH: frozenset({"pages"}),
    Kind.VIDEO: frozenset({"videos"}),
}
"""Units that a call can be counted in without a word of the vendor's."""
_COUNTED_BY_GATEWAY = (Kind.SEARCH, Kind.FETCH)
"""Where an answer without a usage counts as one query, or one page."""


def unit_cases(call: ServiceCall) -> Iterator[Case]:
    async def units(harness: ProviderHarness) -> None:
        expect_none(unit_faults(call))

    yield call.case(
        "units",
        "Count what the price is for, by the price's own word, and as much as was used.",
        units,
    )


def unit_faults(call: ServiceCall) -> Iterator[str]:
    usage = whole(call).exchange.usage
    units = units_of(usage)
    for name, amount in units.items():
        if not isfinite(amount) or amount < 0:
            yield f"{amount} {name} are counted"
    for model in call.subject.spec.models:
        if model.kind == call.service.kind and not call.service.action:
            yield from _unpriced(call, model)
    if call.service.kind == Kind.SPEECH:
        yield from _spoken_faults(call)
    if call.service.kind == Kind.TRANSCRIPTION and "seconds" in units:
        told = [float(leaf) for leaf in leaves(decode_reply(call)) if _is_number(leaf)]
        if told and not any(abs(units["seconds"] - each) < 1e-3 for each in told):
            yield f"{units['seconds']} seconds are counted, which the answer does not report"
    if call.service.action == "status" and (units or _tokens(usage)):
        yield "a look at a job counts what its submission has counted"


def _unpriced(call: ServiceCall, model: Model) -> Iterator[str]:
    """Whether a model's price is for units that no answer counts."""
    rates = model.price.units if model.price is not None else None
    usage = whole(replace(call, model=model)).exchange.usage if rates else None
    counted = units_of(usage)
    if not rates or (usage is None and call.service.kind in _COUNTED_BY_GATEWAY):
        return
    if not counted and not _is_told(call, rates):
        return
    if counted and any(unit_rate(rates, name) is not None for name in counted):
        return
    if not _tokens(usage) or not (model.price and (model.price.input or model.price.output)):
        names = ", ".join(counted) or "nothing"
        yield f"{model.id} has a price for {', '.join(rates)}, and {names} is counted"


def _is_told(call: ServiceCall, rates: Mapping[str, float]) -> bool:
    """Whether the question or the answer tells how much of a unit there is."""
    units = {name.partition("/")[0] for name in rates}
    if units & KNOWN_FROM.get(call.service.kind, frozenset()):
        return True
    names = "\n".join(_names_in(decode_reply(call))).lower()
    return "seconds" in units and ("duration" in names or "seconds" in names)


def _names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        yield from (name for each in value.values() for name in _names_in(each))
    elif isinstance(value, list):
        yield from (name for each in value for name in _names_in(each))


def _spoken_faults(call: ServiceCall) -> Iterator[str]:
    """Whether the characters that are counted are those that are spoken."""
    exchange = whole(with_members(call, {"input": SPOKEN})).exchange
    told = {leaf for leaf in leaves(decode_reply(call)) if _is_number(leaf)}
    counted = units_of(exchange.usage).get("characters")
    if counted is not None and counted != len(SPOKEN) and f"{counted:g}" not in told:
        yield f"{counted:g} characters are counted of a text of {len(SPOKEN)}"


def units_of(usage: Usage | None) -> dict[str, float]:
    return dict(usage.units or {}) if usage is not None else {}


def _tokens(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens + usage.output_tokens


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
