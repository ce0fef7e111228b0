"""The prices of models."""

from typing import Any

import pytest
from office import Office

pytestmark = pytest.mark.anyio
PATH = "/api/pricing"
OWN = {"ac": {"large": {"input": 2, "output": 10}}}


async def cost_of_a_chat(office: Office) -> float:
    """Three tokens in and one out."""
    await office.chat("acme/large")
    await office.core.ledger.flush()
    found = await office.ask("GET", "/api/usage/history", params={"limit": 1})
    cost: float = found["rows"][0]["cost"]
    return cost


async def test_the_operators_price_counts_at_once(office: Office) -> None:
    await office.connect()

    answer = await office.ask("PATCH", PATH, OWN)

    assert answer == {"ac": {"large": {"input": 2.0, "output": 10.0}}}
    assert await office.ask("GET", PATH) == answer
    assert await cost_of_a_chat(office) == 0.000016


async def test_any_name_of_a_provider_means_the_same_row(office: Office) -> None:
    await office.ask("PATCH", PATH, OWN)

    answer = await office.ask("PATCH", PATH, {"acme": {"large": {"cached": 1}}})

    assert answer == {"ac": {"large": {"input": 2.0, "output": 10.0, "cached": 1.0}}}


async def test_a_price_of_one_model_can_be_forgotten(office: Office) -> None:
    await office.ask("PATCH", PATH, {"ac": {**OWN["ac"], "small": {"input": 1, "output": 1}}})

    answer = await office.ask("DELETE", PATH, params={"provider": "acme", "model": "large"})

    assert answer == {"ac": {"small": {"input": 1.0, "output": 1.0}}}
    assert await office.ask("DELETE", PATH, params={"provider": "ac"}) == {}


async def test_all_prices_can_be_forgotten(office: Office) -> None:
    await office.ask("PATCH", PATH, {**OWN, "else": {"m": {"input": 0, "output": 0}}})

    assert await office.ask("DELETE", PATH) == {}


async def test_forgetting_what_is_not_there_changes_nothing(office: Office) -> None:
    await office.ask("PATCH", PATH, OWN)

    answer = await office.ask("DELETE", PATH, params={"provider": "open", "model": "x"})

    assert list(answer) == ["ac"]


@pytest.mark.parametrize(
    "body",
    [
        {"ac": {"large": {"input": -1, "output": 1}}},
        {"ac": {"large": {"input": "1", "output": 1}}},
        {"ac": {"large": {"input": True, "output": 1}}},
        {"ac": {"large": {"input": None, "output": 1}}},
        {"ac": {"large": {"input": 1e300, "output": 1}}},
        {"ac": {"large": {"input": 1, "output": 1, "request": 1}}},
        {"ac": {"large": {"input": 1}}},
        {"ac": {"large": {}}},
        {"ac": {"large": 3}},
        {"ac": []},
        {"": {"large": {"input": 1, "output": 1}}},
        {"ac": {"x" * 300: {"input": 1, "output": 1}}},
        {"ac": {"a\nb": {"input": 1, "output": 1}}},
    ],
    ids=lambda body: str(body)[:60],
)
async def test_what_is_no_price_is_refused_and_changes_nothing(
    office: Office, body: dict[str, Any]
) -> None:
    await office.ask("PATCH", PATH, body, status=400)

    assert await office.ask("GET", PATH) == {}


@pytest.mark.parametrize("text", ["[]", "1", '{"ac": {"m": {"input": 1e999, "output": 1}}}', "{"])
async def test_a_body_that_is_no_map_of_numbers_is_refused(office: Office, text: str) -> None:
    answer = await office.client.patch(
        PATH, content=text, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
