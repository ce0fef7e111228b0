"""The prices of models."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/pricing"
OWN = {"ac": {"large": {"input": 2, "output": 10}}}


async def cost_of_a_chat(admin: AdminGateway) -> float:
    """Three tokens in and one out."""
    await admin.chat("acme/large")
    await admin.core.ledger.flush()
    found = await admin.call("GET", "/api/usage/history", params={"limit": 1})
    cost: float = found["rows"][0]["cost"]
    return cost


async def test_the_operators_price_counts_at_once(admin: AdminGateway) -> None:
    await admin.connect()

    answer = await admin.call("PATCH", PATH, OWN)

    assert answer == {"ac": {"large": {"input": 2.0, "output": 10.0}}}
    assert await admin.call("GET", PATH) == answer
    assert await cost_of_a_chat(admin) == 0.000016


async def test_every_name_of_a_provider_selects_the_same_row(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, OWN)

    answer = await admin.call("PATCH", PATH, {"acme": {"large": {"cached": 1}}})

    assert answer == {"ac": {"large": {"input": 2.0, "output": 10.0, "cached": 1.0}}}


async def test_a_price_of_one_model_can_be_forgotten(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"ac": {**OWN["ac"], "small": {"input": 1, "output": 1}}})

    answer = await admin.call("DELETE", PATH, params={"provider": "acme", "model": "large"})

    assert answer == {"ac": {"small": {"input": 1.0, "output": 1.0}}}
    assert await admin.call("DELETE", PATH, params={"provider": "ac"}) == {}


async def test_all_prices_can_be_forgotten(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {**OWN, "else": {"m": {"input": 0, "output": 0}}})

    assert await admin.call("DELETE", PATH) == {}


async def test_forgetting_what_is_not_there_changes_nothing(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, OWN)

    answer = await admin.call("DELETE", PATH, params={"provider": "open", "model": "x"})

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
    admin: AdminGateway, body: dict[str, Any]
) -> None:
    await admin.call("PATCH", PATH, body, status=400)

    assert await admin.call("GET", PATH) == {}


@pytest.mark.parametrize("text", ["[]", "1", '{"ac": {"m": {"input": 1e999, "output": 1}}}', "{"])
async def test_a_body_that_is_no_map_of_numbers_is_refused(admin: AdminGateway, text: str) -> None:
    answer = await admin.client.patch(
        PATH, content=text, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
