"""Hidden models, and those that are the only ones shown."""

from typing import Any

import pytest
from office import Office

pytestmark = pytest.mark.anyio
DISABLED = "/api/models/disabled"
ENABLED = "/api/models/enabled"


async def listed(office: Office) -> set[str]:
    rows = (await office.client.get("/v1/models")).json()["data"]
    return {row["id"] for row in rows if row["id"].startswith("ac/")}


async def test_a_disabled_model_is_gone_at_once_and_comes_back(office: Office) -> None:
    await office.connect()

    await office.ask("POST", DISABLED, {"providerAlias": "ac", "ids": ["small"]})
    await office.ask("POST", DISABLED, {"providerAlias": "acme", "ids": ["large", "small"]})

    assert await office.ask("GET", DISABLED) == {"disabled": {"ac": ["small", "large"]}}
    assert await office.ask("GET", f"{DISABLED}?providerAlias=ac") == {"ids": ["small", "large"]}
    assert await listed(office) == {"ac/vectors"}
    refused = await office.chat("acme/large")
    assert (refused.status_code, "disabled" in refused.text) == (400, True)

    await office.ask("DELETE", f"{DISABLED}?providerAlias=ac&id=small")
    assert await office.ask("GET", f"{DISABLED}?providerAlias=ac") == {"ids": ["large"]}
    await office.ask("DELETE", f"{DISABLED}?providerAlias=ac")
    assert await office.ask("GET", DISABLED) == {"disabled": {}}
    assert await listed(office) == {"ac/large", "ac/small", "ac/vectors"}


async def test_a_list_of_enabled_models_hides_the_others(office: Office) -> None:
    await office.connect()
    await office.ask("POST", DISABLED, {"providerAlias": "ac", "ids": ["small", "vectors"]})

    answer = await office.ask("PUT", ENABLED, {"providerAlias": "ac", "ids": ["small", "small"]})

    assert answer == {"success": True, "ids": ["small"]}
    assert await office.ask("GET", ENABLED) == {"enabled": {"ac": ["small"]}}
    assert await office.ask("GET", f"{ENABLED}?providerAlias=acme") == {"ids": ["small"]}
    assert await office.ask("GET", DISABLED) == {"disabled": {"ac": ["vectors"]}}
    assert await listed(office) == {"ac/small"}


@pytest.mark.parametrize("way", ["PUT", "DELETE"])
async def test_an_empty_list_shows_all(office: Office, way: str) -> None:
    await office.connect()
    await office.ask("PUT", ENABLED, {"providerAlias": "ac", "ids": ["small"]})

    if way == "PUT":
        await office.ask("PUT", ENABLED, {"providerAlias": "ac", "ids": []})
    else:
        await office.ask("DELETE", f"{ENABLED}?providerAlias=ac")

    assert await office.ask("GET", ENABLED) == {"enabled": {}}
    assert len(await listed(office)) == 3


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
async def test_odd_lists_are_refused(
    office: Office, method: str, path: str, body: dict[str, Any], error: str
) -> None:
    answer = await office.ask(method, path, body, status=400)

    assert answer["error"].startswith(error)


@pytest.mark.parametrize("path", [DISABLED, ENABLED])
async def test_whose_list_is_to_go_must_be_said(office: Office, path: str) -> None:
    answer = await office.ask("DELETE", path, status=400)

    assert answer["error"] == "Missing query parameter: providerAlias"
