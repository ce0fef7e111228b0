"""The dashboard's list of models, and short names for them."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
ALIAS = "/api/models/alias"


async def test_every_model_is_listed_with_its_short_name(admin: AdminGateway) -> None:
    await admin.call("PUT", "/api/models", {"model": "acme/small", "alias": "tiny"})

    rows = (await admin.call("GET", "/api/models"))["models"]

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
async def test_a_short_name_can_be_called_at_once(admin: AdminGateway, path: str) -> None:
    await admin.connect()

    answer = await admin.call("PUT", path, {"model": "ac/large", "alias": " quick "})

    assert answer == {"success": True, "model": "ac/large", "alias": "quick"}
    assert await admin.call("GET", ALIAS) == {"aliases": {"quick": "ac/large"}}
    assert (await admin.chat("quick")).status_code == 200
    assert admin.vendor.received[-1].json()["model"] == "large"


async def test_a_short_name_moves_and_goes(admin: AdminGateway) -> None:
    await admin.call("PUT", ALIAS, {"model": "ac/large", "alias": "quick"})
    await admin.call("PUT", ALIAS, {"model": "open/large", "alias": "quick"})
    moved = await admin.call("GET", ALIAS)

    gone = await admin.call("DELETE", f"{ALIAS}?alias=quick")

    assert moved == {"aliases": {"quick": "open/large"}}
    assert gone == {"success": True}
    assert await admin.call("GET", ALIAS) == {"aliases": {}}
    assert (await admin.chat("quick")).status_code >= 400


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
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    await admin.call("PUT", ALIAS, {"model": "ac/large", "alias": "quick"})
    await admin.call("POST", "/api/combos", {"name": "team"}, status=201)

    answer = await admin.call("PUT", ALIAS, body, status=400)

    assert answer["error"].startswith(error)
    assert await admin.call("GET", ALIAS) == {"aliases": {"quick": "ac/large"}}


@pytest.mark.parametrize("model", ["ac/vectors", "team", "auto/glm"])
async def test_a_short_name_may_stand_for_anything_that_can_be_called(
    admin: AdminGateway, model: str
) -> None:
    await admin.call("POST", "/api/combos", {"name": "team"}, status=201)
    await admin.call("POST", "/api/models/custom", {"providerAlias": "open", "id": "glm-5"})

    await admin.call("PUT", ALIAS, {"model": model, "alias": "short"})


async def test_deleting_an_alias_requires_its_name(admin: AdminGateway) -> None:
    answer = await admin.call("DELETE", ALIAS, status=400)

    assert answer["error"] == "Missing query parameter: alias"
