"""Which models serve media calls that name none."""

from typing import Any

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio
PATH = "/api/media-providers/routes"


async def route(admin: AdminGateway, kind: str = "embedding") -> dict[str, Any]:
    listed = (await admin.call("GET", PATH))["routes"]
    found: dict[str, Any] = next(each for each in listed if each["id"] == kind)
    return found


async def test_every_kind_has_a_route(admin: AdminGateway) -> None:
    listed = (await admin.call("GET", PATH))["routes"]

    assert [each["id"] for each in listed] == [
        *("tts", "stt", "webSearch", "webFetch", "embedding", "image", "video", "music")
    ]
    assert all(each["label"] and each["endpoints"] for each in listed)
    assert all(each["candidates"] == each["saved"] == each["effective"] == [] for each in listed)


async def test_candidates_are_models_of_the_kind_that_are_connected(admin: AdminGateway) -> None:
    await admin.connect()

    found = await route(admin)

    assert found["candidates"] == [{"id": "ac/vectors", "name": "vectors", "provider": "acme"}]
    assert found["effective"] == ["ac/vectors"]
    assert found["endpoints"] == [{"path": "/v1/embeddings", "effective": ["ac/vectors"]}]


async def test_a_saved_order_counts_as_far_as_it_is_available(admin: AdminGateway) -> None:
    await admin.connect()
    for model in ("talker", "singer"):
        body = {"providerAlias": "acme", "id": model, "kind": "tts"}
        await admin.call("POST", "/api/models/custom", body)
    order = ["acme/singer", "lost/model", "ac/talker", "acme/singer"]

    saved = (await admin.call("PUT", PATH, {"kind": "tts", "models": order}))["route"]
    await admin.call("PUT", PATH, {"kind": "image", "models": ["a/b"]})

    assert saved["saved"] == ["acme/singer", "lost/model", "ac/talker"]
    assert saved["effective"] == ["acme/singer", "ac/talker"]
    assert await route(admin, "tts") == saved
    assert admin.core.snapshot.settings.media_routes == {
        "tts": ("acme/singer", "lost/model", "ac/talker"),
        "image": ("a/b",),
    }


async def test_an_empty_list_is_automatic(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("PUT", PATH, {"kind": "embedding", "models": ["lost/model"]})
    lost = await route(admin)

    freed = (await admin.call("PUT", PATH, {"kind": "embedding", "models": []}))["route"]

    assert (lost["saved"], lost["effective"]) == (["lost/model"], [])
    assert (freed["saved"], freed["effective"]) == ([], ["ac/vectors"])


@pytest.mark.parametrize("word", ["webSearch", "search"])
async def test_a_route_is_saved_by_either_word_for_its_kind(admin: AdminGateway, word: str) -> None:
    saved = await admin.call("PUT", PATH, {"kind": word, "models": []})

    assert saved["route"]["id"] == "webSearch"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "Unknown media kind"),
        ({"kind": "llm", "models": []}, "Unknown media kind"),
        ({"kind": "tts", "models": "a/b"}, "Invalid mediaRoutes"),
        ({"kind": "tts", "models": ["bare"]}, "Invalid mediaRoutes"),
        ({"kind": "tts", "models": [f"a/{n}" for n in range(51)]}, "Invalid mediaRoutes"),
    ],
)
async def test_a_route_that_makes_no_sense_is_refused(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("PUT", PATH, body, status=400)

    assert answer["error"] == error
    assert await admin.core.stores.settings.document() == {}
