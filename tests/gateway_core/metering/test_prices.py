"""Costs: whose price counts, and that parts sum to the whole."""

import subprocess
import sys

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import provider, target

from gateway_core import Model, Price, Usage
from gateway_core.metering.prices import MICRO, Prices, price_usage

rates = st.floats(0, 1000)
maybe = st.none() | rates
KNOWN = Prices()
prices = st.builds(
    Price, input=rates, output=rates, cached=maybe, cache_write=maybe, reasoning=maybe
)
counts = st.integers(0, 10_000_000)
PRICED = target(provider("acme", alias="ac"), Model("m", price=Price(input=1, output=2)))


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Parts are within their wholes, as readers promise."""
    cached, written, fresh, spoken, reasoning = (draw(counts) for _ in range(5))
    return Usage(
        input_tokens=fresh + cached + written,
        output_tokens=spoken + reasoning,
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


@given(prices, st.builds(Usage, input_tokens=counts, output_tokens=counts, cached_tokens=counts))
def test_a_cost_is_never_negative(price: Price, usage: Usage) -> None:
    assert price_usage(price, usage) >= 0


@given(prices, usages())
def test_the_parts_sum_to_the_whole(price: Price, usage: Usage) -> None:
    fresh = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
    parts = [
        Usage(input_tokens=fresh),
        Usage(input_tokens=usage.cached_tokens, cached_tokens=usage.cached_tokens),
        Usage(input_tokens=usage.cache_write_tokens, cache_write_tokens=usage.cache_write_tokens),
        Usage(output_tokens=usage.output_tokens - usage.reasoning_tokens),
        Usage(output_tokens=usage.reasoning_tokens, reasoning_tokens=usage.reasoning_tokens),
    ]

    # Each part is rounded to a millionth by itself.
    total = sum(price_usage(price, part) for part in parts)
    assert total == pytest.approx(price_usage(price, usage), rel=1e-12, abs=3)


@given(prices, usages())
def test_a_rate_that_is_not_given_falls_back_to_its_side(price: Price, usage: Usage) -> None:
    whole = Price(
        input=price.input,
        output=price.output,
        cached=price.input if price.cached is None else price.cached,
        cache_write=price.input if price.cache_write is None else price.cache_write,
        reasoning=price.output if price.reasoning is None else price.reasoning,
    )

    assert price_usage(price, usage) == price_usage(whole, usage)


def test_a_million_tokens_cost_their_rate() -> None:
    usage = Usage(input_tokens=MICRO, output_tokens=MICRO)

    assert price_usage(Price(input=0.25, output=1.5), usage) == round(1.75 * MICRO)


@pytest.mark.parametrize("name", ["acme", "ac"])
def test_the_operators_price_comes_first(name: str) -> None:
    own = Prices()
    own.replace({name: {"m": {"input": 5, "output": 7, "cache_creation": 6, "cached": 0}}})
    usage = Usage(input_tokens=3, output_tokens=1, cached_tokens=1, cache_write_tokens=1)

    assert own.cost(PRICED, usage) == 5 + 0 + 6 + 7


@pytest.mark.parametrize(
    "name",
    [
        *("m:nitro", "m:floor", "m-2026-01-31", "m-20260131", "m@20260131", "m-0131", "m-01-2026"),
        *("m-latest", "ft:m:org:name:id", "ft:m-2026-01-31:org::id", "m-2601:nitro"),
    ],
)
def test_a_variant_costs_what_its_model_costs(name: str) -> None:
    own = Prices()
    own.replace({"acme": {"m": {"input": 5, "output": 7}}})
    plugins = provider("acme", Model("m", price=Price(input=1, output=2)))

    assert own.cost(target(provider("acme"), name), Usage(input_tokens=1)) == 5
    assert Prices().cost(target(plugins, name), Usage(input_tokens=1)) == 1


@pytest.mark.parametrize(
    "name", ["gpt-4o:nitro", "gpt-4o-2031-05-13", "ft:gpt-5:org::id", "openai/gpt-4o:floor"]
)
def test_a_variant_without_a_price_costs_its_models_list_price(name: str) -> None:
    vendor = provider("openrouter" if "/" in name else "openai")

    assert Prices().cost(target(vendor, name), Usage(input_tokens=1_000)) is not None


def test_a_variant_may_have_a_price_of_its_own() -> None:
    own = Prices()
    own.replace({"acme": {"m": {"input": 5, "output": 7}, "m:nitro": {"input": 9, "output": 9}}})
    usage = Usage(input_tokens=1)

    assert own.cost(target(provider("acme"), "m:nitro"), usage) == 9
    assert own.cost(target(provider("acme"), "m:free"), usage) is None
    assert own.cost(target(provider("acme"), "m-mini"), usage) is None
    own.replace({"acme": {"m": {"input": 6, "output": 7}}})
    assert own.cost(target(provider("acme"), "m:nitro"), usage) == 6


def test_an_operators_price_without_both_sides_does_not_count() -> None:
    own = Prices()
    own.replace({"acme": {"m": {"input": 5}}})

    assert own.cost(PRICED, Usage(input_tokens=3)) == 3


def test_a_free_provider_costs_nothing_whatever_its_models_say() -> None:
    free = target(provider("acme", free=True), Model("m", price=Price(input=9, output=9)))

    assert Prices().cost(free, Usage(input_tokens=9)) == 0


def test_a_price_that_nobody_gives_is_looked_up() -> None:
    usage = Usage(input_tokens=1_000, output_tokens=1_000)

    cost = Prices().cost(target(provider("openai"), "gpt-4o"), usage)

    assert cost is not None
    assert cost > 0


def test_a_cost_that_cannot_be_known_is_not_zero() -> None:
    prices = Prices()

    for _ in range(2):
        unheard = target(provider("nobody"), "unheard-of-model")
        assert prices.cost(unheard, Usage(input_tokens=5)) is None
    impossible = Usage(input_tokens=3, cached_tokens=9)
    assert prices.cost(target(provider("openai"), "gpt-4o"), impossible) is None


LISTED = (
    *(("openai", "gpt-4o"), ("openai", "gpt-4o-mini"), ("anthropic", "claude-sonnet-4-5")),
    *(
        ("google", "gemini-2.5-pro"),
        ("deepseek", "deepseek-chat"),
        ("groq", "llama-3.1-8b-instant"),
    ),
)


@given(st.sampled_from(LISTED), counts, counts, st.integers(0, 100), st.integers(0, 50))
def test_a_listed_price_is_the_tables_own(
    model: tuple[str, str], fresh: int, spoken: int, cached: int, written: int
) -> None:
    usage = Usage(
        input_tokens=fresh + cached + written,
        output_tokens=spoken,
        cached_tokens=cached,
        cache_write_tokens=written,
    )
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=spoken,
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
    provider_id, name = model
    wanted = genai_prices.calc_price(counted, model_ref=name, provider_id=provider_id).total_price

    cost = KNOWN.cost(target(provider(provider_id), name), usage)

    assert cost == pytest.approx(float(wanted) * MICRO, abs=1)


def test_a_price_is_looked_up_without_the_package_that_the_table_was_made_from() -> None:
    program = (
        "import sys\n"
        "from gateway_core.metering.list_prices import listed, read_table\n"
        "assert listed(read_table(), 'openai', 'gpt-4o')\n"
        "assert not {'genai_prices', 'pydantic'} & sys.modules.keys()\n"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
