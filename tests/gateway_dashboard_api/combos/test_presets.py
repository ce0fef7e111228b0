"""Combos for coding clients, made of what is connected."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/combos/presets"


@pytest.fixture
async def stocked(admin: AdminGateway) -> AdminGateway:
    """A gateway whose account has models that coding clients know."""
    await admin.connect()
    for model in ("claude-opus-9", "gpt-9", "Claude-Sonnet-9"):
        body = {"providerAlias": "acme", "id": model}
        await admin.call("POST", "/api/models/custom", body)
    return admin


@pytest.mark.parametrize(
    ("source", "created", "skipped"),
    [
        (
            "claude",
            {"claude-opus": ["ac/claude-opus-9"], "claude-sonnet": ["ac/Claude-Sonnet-9"]},
            [{"name": "claude-haiku", "reason": "no_models"}],
        ),
        (
            "cursor",
            {
                "cursor-claude": ["ac/claude-opus-9", "ac/Claude-Sonnet-9"],
                "cursor-gpt": ["ac/gpt-9"],
            },
            [{"name": "cursor-gemini", "reason": "no_models"}],
        ),
    ],
)
async def test_presets_are_shown_first_and_made_then(
    stocked: AdminGateway, source: str, created: dict[str, list[str]], skipped: list[dict[str, Any]]
) -> None:
    shown = await stocked.call("GET", f"{PATH}?source={source}")
    before = await stocked.call("GET", "/api/combos")
    made = await stocked.call("POST", f"{PATH}?source={source}")

    assert before == {"combos": []}
    assert {each["name"]: each["models"] for each in shown["toCreate"]} == created
    assert {each["name"]: each["models"] for each in made["created"]} == created
    assert shown["toSkip"] == made["skipped"] == skipped
    assert set(stocked.core.snapshot.combos) == set(created)


async def test_what_is_there_already_is_left_alone(stocked: AdminGateway) -> None:
    own = {"name": "claude-opus", "models": ["acme/large"]}
    await stocked.call("POST", "/api/combos", own, status=201)

    made = await stocked.call("POST", f"{PATH}?source=claude")
    again = await stocked.call("POST", f"{PATH}?source=claude")

    assert [each["name"] for each in made["created"]] == ["claude-sonnet"]
    assert again["created"] == []
    assert stocked.core.snapshot.combos["claude-opus"].models == ("acme/large",)


@pytest.mark.parametrize("query", ["", "?source=", "?source=emacs"])
async def test_a_client_that_is_not_known_has_no_presets(admin: AdminGateway, query: str) -> None:
    answer = await admin.call("GET", PATH + query, status=400)

    assert answer["error"].startswith("Invalid")
