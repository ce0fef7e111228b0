"""The dashboard's list of models, and short names for them."""

from typing import Any

import pytest
from office import Office

pytestmark = pytest.mark.anyio
ALIAS = "/api/models/alias"


async def test_every_model_is_listed_with_its_short_name(office: Office) -> None:
    await office.ask("PUT", "/api/models", {"model": "acme/small", "alias": "tiny"})

    rows = (await office.ask("GET", "/api/models"))["models"]

    mine = [row for row in rows if row["provider"] == "acme"]
    assert mine == [
        {
            "provider": "acme",
            "model": model,
            "name": name,
            "fullModel": f"ac/{model}",
            "alias": alias,
            "kind": kind,
        }
        for model, name, alias, kind in (
            ("large", "Acme Large", None, "llm"),
            ("small", "small", "tiny", "llm"),
            ("vectors", "vectors", None, "embedding"),
        )
    ]
    assert {row["provider"] for row in rows} >= {"acme", "open", "echo"}


@pytest.mark.parametrize("path", ["/api/models", ALIAS])
async def test_a_short_name_can_be_called_at_once(office: Office, path: str) -> None:
    await office.connect()

    answer = await office.ask("PUT", path, {"model": "ac/large", "alias": " quick "})

    assert answer == {"success": True, "model": "ac/large", "alias": "quick"}
    assert await office.ask("GET", ALIAS) == {"aliases": {"quick": "ac/large"}}
    assert (await office.chat("quick")).status_code == 200
    assert office.vendor.asked[-1].json()["model"] == "large"


async def test_a_short_name_moves_and_goes(office: Office) -> None:
    await office.ask("PUT", ALIAS, {"model": "ac/large", "alias": "quick"})
    await office.ask("PUT", ALIAS, {"model": "open/large", "alias": "quick"})
    moved = await office.ask("GET", ALIAS)

    gone = await office.ask("DELETE", f"{ALIAS}?alias=quick")

    assert moved == {"aliases": {"quick": "open/large"}}
    assert gone == {"success": True}
    assert await office.ask("GET", ALIAS) == {"aliases": {}}
    assert (await office.chat("quick")).status_code >= 400


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Model and alias required"),
        ({"model": "ac/large"}, "Model and alias required"),
        ({"alias": "a"}, "Model and alias required"),
        ({"model": "ac/large", "alias": "a/b"}, "Invalid alias"),
        ({"model": "ac/large", "alias": "a b"}, "Invalid alias"),
        ({"model": "ac/large", "alias": "a\nb"}, "Invalid alias"),
        ({"model": "ac/large", "alias": "a" * 513}, "Invalid alias"),
        ({"model": "nobody/m", "alias": "a"}, "Invalid model"),
        ({"model": "quick", "alias": "a"}, "Invalid model"),
        ({"model": "ac/large", "alias": "team"}, "A combo named team already exists"),
        ({"model": 5, "alias": "a"}, "Invalid request body"),
    ],
)
async def test_a_short_name_that_makes_no_sense_is_refused(
    office: Office, body: dict[str, Any], error: str
) -> None:
    await office.ask("PUT", ALIAS, {"model": "ac/large", "alias": "quick"})
    await office.ask("POST", "/api/combos", {"name": "team"}, status=201)

    answer = await office.ask("PUT", ALIAS, body, status=400)

    assert answer["error"].startswith(error)
    assert await office.ask("GET", ALIAS) == {"aliases": {"quick": "ac/large"}}


@pytest.mark.parametrize("model", ["ac/vectors", "team", "auto/glm"])
async def test_a_short_name_may_stand_for_anything_that_can_be_called(
    office: Office, model: str
) -> None:
    await office.ask("POST", "/api/combos", {"name": "team"}, status=201)
    await office.ask("POST", "/api/models/custom", {"providerAlias": "open", "id": "glm-5"})

    await office.ask("PUT", ALIAS, {"model": model, "alias": "short"})


async def test_which_short_name_is_to_go_must_be_said(office: Office) -> None:
    answer = await office.ask("DELETE", ALIAS, status=400)

    assert answer["error"] == "Missing query parameter: alias"
