"""The prices of models."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/pricing"
OWN = {"ac": {"large": {"input": 2, "output": 10}}}


def own(**rates: float) -> dict[str, Any]:
    """A row of the list whose rates are all the operator's."""
    return {**rates, "source": dict.fromkeys(rates, "operator")}


async def cost_of_a_chat(admin: AdminGateway, model: str = "acme/large") -> float:
    """Three tokens in and one out."""
    await admin.chat(model)
    await admin.core.ledger.flush()
    found = await admin.call("GET", "/api/usage/history", params={"limit": 1})
    cost: float = found["rows"][0]["cost"]
    return cost


async def test_the_operators_price_counts_at_once(admin: AdminGateway) -> None:
    await admin.connect()

    answer = await admin.call("PATCH", PATH, OWN)

    assert answer == {"ac": {"large": own(input=2.0, output=10.0)}}
    assert await admin.call("GET", PATH) == answer
    assert await cost_of_a_chat(admin) == 0.000016


async def test_every_name_of_a_provider_selects_the_same_row(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, OWN)

    answer = await admin.call("PATCH", PATH, {"acme": {"large": {"cached": 1}}})

    assert answer == {"ac": {"large": own(input=2.0, output=10.0, cached=1.0)}}


async def test_a_price_of_one_model_can_be_forgotten(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {"ac": {**OWN["ac"], "small": {"input": 1, "output": 1}}})

    answer = await admin.call("DELETE", PATH, params={"provider": "acme", "model": "large"})

    assert answer == {"ac": {"small": own(input=1.0, output=1.0)}}
    assert await admin.call("DELETE", PATH, params={"provider": "ac"}) == {}


async def test_all_prices_can_be_forgotten(admin: AdminGateway) -> None:
    await admin.call("PATCH", PATH, {**OWN, "open": {"m": {"input": 0, "output": 0}}})

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
        {"ac": {"large": {"source": {"input": "operator"}}}},
        {"ac": {"large": {"units": {}}}},
        {"ac": {"large": {"units": {"images": -1}}}},
        {"ac": {"large": {"units": {"images": "1"}}}},
        {"nobody": {"large": {"input": 1, "output": 1}}},
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


async def test_a_provider_that_is_not_known_is_named_in_the_refusal(admin: AdminGateway) -> None:
    body = {**OWN, "opnai": {"gpt-4o": {"input": 1, "output": 1}}}

    changed = await admin.call("PATCH", PATH, body, status=400)
    forgotten = await admin.call("DELETE", PATH, params={"provider": "opnai"}, status=400)
    shown = await admin.call("GET", PATH, params={"provider": "opnai"}, status=400)

    for answer in (changed, forgotten, shown):
        assert answer["error"] == "Unknown provider: opnai"
    assert await admin.call("GET", PATH) == {}


async def test_a_model_without_its_provider_does_not_reset_every_price(admin: AdminGateway) -> None:
    before = await admin.call("PATCH", PATH, OWN)

    await admin.call("DELETE", PATH, params={"model": "large"}, status=400)

    assert await admin.call("GET", PATH) == before


async def test_units_have_prices_of_their_own(admin: AdminGateway) -> None:
    first = {"ac": {"large": {"units": {"images": 0.04, "seconds": 1}}}}
    await admin.call("PATCH", PATH, first)

    answer = await admin.call("PATCH", PATH, {"ac": {"large": {"units": {"images": 0.05}}}})

    row = answer["ac"]["large"]
    assert row["units"] == {"images": 0.05, "seconds": 1.0}
    assert row["source"]["units"] == "operator"


class TestAPriceOfTheTable:
    """The provider ``acme`` has a model that the table of list prices knows by a pattern."""

    @pytest.fixture(autouse=True)
    async def listed(self, admin: AdminGateway) -> None:
        """A node whose id the table takes for a vendor's: ids hold the type, ``openai-…``."""
        body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
        node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
        assert node["id"].startswith("openai-compatible-")
        await admin.connect(node["id"])
        for model in ("gpt-4o", "gpt-5.4", "unheard-of"):
            await admin.call("POST", "/api/models/custom", {"providerAlias": "mine", "id": model})

    async def test_it_is_shown_with_its_source(self, admin: AdminGateway) -> None:
        rows = (await admin.call("GET", PATH))["mine"]

        plain = rows["gpt-4o"]
        assert 0 < plain["cached"] < plain["input"] < plain["output"]
        assert plain["source"] == {"input": "list", "output": "list", "cached": "list"}
        (longer,) = rows["gpt-5.4"]["longPrompts"]
        assert longer["above"] > 100_000
        assert longer["input"] > rows["gpt-5.4"]["input"]
        assert "unheard-of" not in rows

    async def test_one_rate_is_changed_alone(self, admin: AdminGateway) -> None:
        before = (await admin.call("GET", PATH))["mine"]

        changed = await admin.call("PATCH", PATH, {"mine": {"gpt-4o": {"output": 99}}})
        tiered = await admin.call("PATCH", PATH, {"mine": {"gpt-5.4": {"output": 99}}})

        after = changed["mine"]["gpt-4o"]
        assert after == {
            **before["gpt-4o"],
            "output": 99.0,
            "source": {"input": "list", "output": "operator", "cached": "list"},
        }
        (longer,) = tiered["mine"]["gpt-5.4"]["longPrompts"]
        assert (longer["output"], longer["input"] > 0) == (99.0, True)
        restored = await admin.call("DELETE", PATH, params={"provider": "mine"})
        assert restored["mine"] == before

    async def test_a_call_costs_the_changed_rate_beside_the_others(
        self, admin: AdminGateway
    ) -> None:
        answer = await admin.call("PATCH", PATH, {"mine": {"gpt-4o": {"output": 99}}})
        rate = answer["mine"]["gpt-4o"]["input"]

        assert await cost_of_a_chat(admin, "mine/gpt-4o") == pytest.approx(
            (3 * rate + 99) / 1_000_000, abs=1e-6
        )

    async def test_half_a_price_is_refused_where_the_table_has_no_other_half(
        self, admin: AdminGateway
    ) -> None:
        answer = await admin.call(
            "PATCH", PATH, {"mine": {"unheard-of": {"output": 99}}}, status=400
        )

        assert answer["error"] == "Pricing for unheard-of needs both input and output"

    async def test_a_row_may_be_sent_back_as_it_was_read(self, admin: AdminGateway) -> None:
        rows = (await admin.call("GET", PATH))["mine"]

        after = (await admin.call("PATCH", PATH, {"mine": rows}))["mine"]

        assert {**after["gpt-4o"], "source": {}} == {**rows["gpt-4o"], "source": {}}
        assert set(after["gpt-4o"]["source"].values()) == {"operator"}


async def test_the_table_is_shown_of_a_provider_that_is_not_connected_where_it_is_named(
    admin: AdminGateway,
) -> None:
    body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    node = (await admin.call("POST", "/api/provider-nodes", body, status=201))["node"]
    await admin.call("POST", "/api/models/custom", {"providerAlias": "mine", "id": "gpt-4o"})

    by_id = await admin.call("GET", PATH, params={"provider": node["id"]})

    assert list(by_id) == ["mine"]
    assert list(by_id["mine"]) == ["gpt-4o"]
