"""Models the operator adds."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/models/custom"
MINE = {"providerAlias": "ac", "id": "mine"}


async def listed(admin: AdminGateway, **where: str) -> list[Any]:
    answer = await admin.client.get("/v1/models")
    rows = answer.json()["data"]
    return [row for row in rows if all(row.get(name) == value for name, value in where.items())]


async def test_a_model_is_added_once_and_is_in_the_catalog_at_once(admin: AdminGateway) -> None:
    await admin.connect()
    able = {"contextWindow": 9000, "vision": True, "pdf": True}
    body = {**MINE, "name": "My own", "capabilities": able}

    first = await admin.call("POST", PATH, body)
    again = await admin.call("POST", PATH, body)

    assert (first, again) == ({"success": True, "added": True}, {"success": True, "added": False})
    assert await admin.call("GET", PATH) == {
        "models": [
            {
                "providerAlias": "ac",
                "provider": "acme",
                "id": "mine",
                "type": "llm",
                "name": "My own",
                "capabilities": able,
            }
        ]
    }
    row = (await listed(admin, id="ac/mine"))[0]
    assert (row["display_name"], row["context_length"]) == ("My own", 9000)


async def test_a_plugins_own_model_is_not_added_again(admin: AdminGateway) -> None:
    answer = await admin.call("POST", PATH, {"providerAlias": "acme", "id": "large"})

    assert answer == {"success": True, "added": False}


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ({"kind": "image"}, "image"),
        ({"type": "imageToText"}, "image-to-text"),
        ({"type": "webSearch"}, "search"),
        ({"kind": "realtime-translation"}, "realtime-translation"),
        ({"kind": "realtimeTranscription"}, "realtime-transcription"),
        ({"type": "systemone"}, "systemone"),
        ({}, "llm"),
    ],
)
async def test_what_a_model_is_for_is_understood_in_any_spelling(
    admin: AdminGateway, word: dict[str, str], kind: str
) -> None:
    await admin.call("POST", PATH, {**MINE, **word})

    assert [row["type"] for row in (await admin.call("GET", PATH))["models"]] == [kind]


async def test_a_model_can_be_for_two_kinds_of_work(admin: AdminGateway) -> None:
    await admin.call("POST", PATH, MINE)
    await admin.call("POST", PATH, {**MINE, "kind": "tts"})

    await admin.call("DELETE", f"{PATH}?providerAlias=ac&id=mine&type=tts")

    assert [row["type"] for row in (await admin.call("GET", PATH))["models"]] == ["llm"]


async def test_a_change_sets_what_it_names(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", PATH, {**MINE, "name": "Old", "capabilities": {"tools": True}})

    await admin.call("PATCH", PATH, {**MINE, "capabilities": {"contextWindow": 5}})
    first = (await admin.call("GET", PATH))["models"][0]
    await admin.call("PATCH", PATH, {**MINE, "name": None, "capabilities": None})
    second = (await admin.call("GET", PATH))["models"][0]

    assert (first["name"], first["capabilities"]) == ("Old", {"contextWindow": 5})
    assert (second["name"], second["capabilities"]) == ("mine", None)


async def test_a_deleted_model_disappears_at_once(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", PATH, MINE)
    await admin.call("POST", PATH, {**MINE, "id": "other"})

    assert await admin.call("DELETE", f"{PATH}?providerAlias=acme&id=mine") == {"success": True}
    assert await admin.call("DELETE", f"{PATH}?providerAlias=acme&id=mine") == {"success": True}

    assert [row["id"] for row in (await admin.call("GET", PATH))["models"]] == ["other"]
    assert await listed(admin, id="ac/mine") == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "providerAlias and id required"),
        ({"providerAlias": "ac", "id": " "}, "providerAlias and id required"),
        ({"providerAlias": "nobody", "id": "m"}, "Unknown provider: nobody"),
        ({**MINE, "id": "a\nb"}, "Invalid id"),
        ({**MINE, "id": "a" * 513}, "Invalid id"),
        ({**MINE, "kind": "telepathy"}, "Invalid kind: telepathy"),
        ({**MINE, "capabilities": {"contextWindow": "many"}}, "Invalid capabilities"),
        ({**MINE, "capabilities": {"contextWindow": 0}}, "Invalid capabilities"),
        ({**MINE, "capabilities": {"contextWindow": 1 << 40}}, "Invalid capabilities"),
        ({**MINE, "capabilities": {"tools": 1}}, "Invalid capabilities"),
        ({**MINE, "capabilities": []}, "Invalid request body"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_a_model_that_makes_no_sense_is_refused(
    admin: AdminGateway, method: str, body: dict[str, Any], error: str
) -> None:
    await admin.call("POST", PATH, MINE)

    answer = await admin.call(method, PATH, body, status=400)

    assert answer["error"].startswith(error)


async def test_a_model_that_is_not_there_cannot_be_changed(admin: AdminGateway) -> None:
    answer = await admin.call("PATCH", PATH, MINE, status=404)

    assert answer["error"] == "Custom model not found"


@pytest.mark.parametrize("query", ["", "?providerAlias=ac", "?id=mine"])
async def test_deleting_a_model_requires_its_id(admin: AdminGateway, query: str) -> None:
    await admin.call("DELETE", PATH + query, status=400)
