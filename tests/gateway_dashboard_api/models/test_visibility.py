"""Hidden models, and those that are the only ones shown."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
DISABLED = "/api/models/disabled"
ENABLED = "/api/models/enabled"


async def listed(admin: AdminGateway) -> set[str]:
    rows = (await admin.client.get("/v1/models")).json()["data"]
    return {row["id"] for row in rows if row["id"].startswith("ac/")}


async def test_a_disabled_model_disappears_at_once_and_can_return(admin: AdminGateway) -> None:
    await admin.connect()

    await admin.call("POST", DISABLED, {"providerAlias": "ac", "ids": ["small"]})
    await admin.call("POST", DISABLED, {"providerAlias": "acme", "ids": ["large", "small"]})

    assert await admin.call("GET", DISABLED) == {"disabled": {"ac": ["small", "large"]}}
    assert await admin.call("GET", f"{DISABLED}?providerAlias=ac") == {"ids": ["small", "large"]}
    assert await listed(admin) == {"ac/vectors"}
    refused = await admin.chat("acme/large")
    assert (refused.status_code, "disabled" in refused.text) == (400, True)

    await admin.call("DELETE", f"{DISABLED}?providerAlias=ac&id=small")
    assert await admin.call("GET", f"{DISABLED}?providerAlias=ac") == {"ids": ["large"]}
    await admin.call("DELETE", f"{DISABLED}?providerAlias=ac")
    assert await admin.call("GET", DISABLED) == {"disabled": {}}
    assert await listed(admin) == {"ac/large", "ac/small", "ac/vectors"}


async def test_a_list_of_enabled_models_hides_the_others(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", DISABLED, {"providerAlias": "ac", "ids": ["small", "vectors"]})

    answer = await admin.call("PUT", ENABLED, {"providerAlias": "ac", "ids": ["small", "small"]})

    assert answer == {"success": True, "ids": ["small"]}
    assert await admin.call("GET", ENABLED) == {"enabled": {"ac": ["small"]}}
    assert await admin.call("GET", f"{ENABLED}?providerAlias=acme") == {"ids": ["small"]}
    assert await admin.call("GET", DISABLED) == {"disabled": {"ac": ["vectors"]}}
    assert await listed(admin) == {"ac/small"}


@pytest.mark.parametrize("way", ["PUT", "DELETE"])
async def test_an_empty_list_shows_all(admin: AdminGateway, way: str) -> None:
    await admin.connect()
    await admin.call("PUT", ENABLED, {"providerAlias": "ac", "ids": ["small"]})

    if way == "PUT":
        await admin.call("PUT", ENABLED, {"providerAlias": "ac", "ids": []})
    else:
        await admin.call("DELETE", f"{ENABLED}?providerAlias=ac")

    assert await admin.call("GET", ENABLED) == {"enabled": {}}
    assert len(await listed(admin)) == 3


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "providerAlias and ids required"),
        ({"providerAlias": "ac"}, "providerAlias and ids required"),
        ({"ids": ["a"]}, "providerAlias and ids required"),
        ({"providerAlias": "nobody", "ids": ["a"]}, "Unknown provider"),
        ({"providerAlias": "ac", "ids": [" "]}, "Invalid ids"),
        ({"providerAlias": "ac", "ids": ["a" * 513]}, "Invalid ids"),
        ({"providerAlias": "ac", "ids": [str(n) for n in range(5001)]}, "Invalid ids"),
        ({"providerAlias": "ac", "ids": "small"}, "Invalid request body"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", DISABLED), ("PUT", ENABLED)])
async def test_invalid_lists_are_refused(
    admin: AdminGateway, method: str, path: str, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call(method, path, body, status=400)

    assert answer["error"].startswith(error)


@pytest.mark.parametrize("path", [DISABLED, ENABLED])
async def test_deleting_a_list_requires_a_provider(admin: AdminGateway, path: str) -> None:
    answer = await admin.call("DELETE", path, status=400)

    assert answer["error"] == "Missing query parameter: providerAlias"
