"""The table of list prices tells what the package tells that it was made from."""

import importlib.util
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType

import genai_prices
import pytest
from genai_prices.data import providers
from hypothesis import given
from hypothesis import strategies as st
from snapshots import provider, target

from gateway_core import Usage
from gateway_core.metering.list_prices import NAME, listed, read_table
from gateway_core.metering.prices import MICRO, Prices, priced_as

ROOT = Path(__file__).parents[3]
NAMES = [(one.id, model.id) for one in providers for model in one.models]
VARIED = [
    (one.id, model.id)
    for one in providers
    for model in one.models
    if isinstance(model.prices, list) or "TieredPrices" in repr(model.prices)
]
MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC))
COUNTS = st.integers(0, 600_000)


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()
KNOWN = Prices(CLOCK)


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_prices", ROOT / "tools" / "list_prices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(home: str, model: str, usage: Usage) -> int | None:
    return KNOWN.cost(target(provider(home), model), usage)


def theirs(home: str, model: str, usage: Usage) -> float | None:
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    moment = datetime.fromtimestamp(CLOCK.now, UTC)
    try:
        found = genai_prices.calc_price(
            counted, model_ref=model, provider_id=home, genai_request_timestamp=moment
        )
    except (LookupError, ValueError):
        return None
    return float(found.total_price) * MICRO


def test_the_table_is_the_packages() -> None:
    written = (ROOT / "gateway_core" / "metering" / NAME).read_text("utf-8")

    assert written == tool().table(), "run: python tools/list_prices.py"


def test_every_listed_model_costs_what_the_package_says() -> None:
    usage = Usage(
        input_tokens=300_000, output_tokens=70_000, cached_tokens=110_000, cache_write_tokens=500
    )
    reported = {name: (ours(*name, usage), theirs(*name, usage)) for name in NAMES}

    differing = {
        name: pair for name, pair in reported.items() if pair != (None, None) and not _same(*pair)
    }
    assert not differing
    assert sum(cost is not None for cost, _ in reported.values()) > 1000


def _same(mine: int | None, other: float | None) -> bool:
    return None not in (mine, other) and mine == pytest.approx(other, abs=1)


@given(st.sampled_from(VARIED), MOMENTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_a_price_that_depends_on_time_and_amount_is_the_packages(
    name: tuple[str, str], moment: datetime, fresh: int, spoken: int, cached: int, written: int
) -> None:
    CLOCK.now = moment.timestamp()
    usage = Usage(
        input_tokens=fresh + cached + written,
        output_tokens=spoken,
        cached_tokens=cached,
        cache_write_tokens=written,
    )

    assert ours(*name, usage) == pytest.approx(theirs(*name, usage), abs=1)


SPELLED = st.sampled_from(NAMES).flatmap(
    lambda name: st.sampled_from(
        [
            (name[0].upper(), name[1].upper()),
            (f" my-{name[0]}-proxy", name[1]),
            (name[0], f"{name[1]}-20251211"),
            ("azure", name[1]),
            ("google", name[1]),
            ("nobody", name[1]),
            (name[0], name[1][: len(name[1]) // 2]),
        ]
    )
)


@given(SPELLED)
def test_names_are_understood_as_by_the_package(name: tuple[str, str]) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=10_000)

    provider, model = name
    # The gateway also knows dated names that the package does not list.
    known = (theirs(provider, plain, usage) for plain in priced_as(model))
    cost, wanted = ours(*name, usage), next((each for each in known if each is not None), None)

    assert (cost is None) == (wanted is None)
    assert cost is None or cost == pytest.approx(wanted, abs=1)


def test_an_empty_table_lists_nothing() -> None:
    assert listed((), "openai", "gpt-4o") is None
    assert listed(read_table(), "openai", "") is None
