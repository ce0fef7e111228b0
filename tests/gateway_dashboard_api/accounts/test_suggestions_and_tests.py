"""Further things to do with accounts and providers."""

import pytest
from admin_gateway import AdminGateway, refused
from fake_vendor import MockResponse

pytestmark = pytest.mark.anyio
PATH = "/api/providers"
SYNC = "/api/models/auto-sync"


async def test_models_are_tried_with_the_account_that_is_named(admin: AdminGateway) -> None:
    first, second = await admin.connect(), await admin.connect(name="second")
    received = {"models": [{"model": "large"}, {"model": "ac/small"}, {"model": "acme/large"}]}

    tested = await admin.call("POST", f"{PATH}/{second['id']}/test-models", received)

    assert [(each["model"], each["ok"]) for each in tested["results"]] == [
        ("large", True),
        ("ac/small", True),
        ("acme/large", True),
    ]
    await admin.core.ledger.aclose()
    rows = await admin.core.stores.database.fetch("SELECT connection_id FROM usage")
    assert {each["connection_id"] for each in rows} == {second["id"]} != {first["id"]}


async def test_a_model_that_fails_is_told_apart(admin: AdminGateway) -> None:
    row = await admin.connect()
    admin.vendor.written = {"/chat/completions": refused(404, "No such model")}
    received = {"models": [{"model": "large"}, {"model": "vectors", "kind": "embedding"}]}

    tested = await admin.call("POST", f"{PATH}/{row['id']}/test-models", received)

    assert [each["ok"] for each in tested["results"]] == [False, False]
    assert tested["results"][0]["status"] == 404
    assert "cannot be tested" in tested["results"][1]["error"]


async def test_only_an_account_in_use_is_tried(admin: AdminGateway) -> None:
    row = await admin.connect()
    received = {"models": [{"model": "large"}]}
    await admin.call("PUT", f"{PATH}/{row['id']}", {"isActive": False})

    answer = await admin.call("POST", f"{PATH}/{row['id']}/test-models", received, status=400)
    await admin.call("POST", f"{PATH}/nobody/test-models", received, status=404)
    await admin.call("POST", f"{PATH}/{row['id']}/test-models", {"models": []}, status=400)

    assert answer["error"] == "Connection is not active"


async def test_the_wish_to_keep_an_account_warm_is_kept(admin: AdminGateway) -> None:
    row = await admin.connect()
    path = f"{PATH}/{row['id']}/auto-ping"

    on = await admin.call("PATCH", path, {"enabled": True})
    off = await admin.call("PATCH", path, {"enabled": False})

    assert (on["connection"]["autoPing"], off["connection"]["autoPing"]) == (True, False)
    await admin.call("PATCH", path, {}, status=400)
    await admin.call("PATCH", f"{PATH}/nobody/auto-ping", {"enabled": True}, status=404)


async def test_models_are_suggested_without_asking_anybody(admin: AdminGateway) -> None:
    found = await admin.call("GET", f"{PATH}/suggested-models?type=ac")

    assert found["data"] == [
        {"id": "large", "name": "Acme Large", "kind": "llm", "contextLength": 1000},
        {"id": "small", "name": "small", "kind": "llm"},
        {"id": "vectors", "name": "vectors", "kind": "embedding"},
    ]
    assert admin.vendor.calls() == []
    await admin.call("GET", f"{PATH}/suggested-models?type=nobody", status=400)
    await admin.call("GET", f"{PATH}/suggested-models", status=400)


async def test_before_the_first_run_nothing_was_synced(admin: AdminGateway) -> None:
    assert await admin.call("GET", SYNC) == {"enabled": False, "lastRunAt": None, "results": []}


async def test_models_that_a_vendor_lists_are_taken_up(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", "/api/models/custom", {"providerAlias": "acme", "id": "mine"})
    admin.vendor.written = {
        "/models": MockResponse(
            (b'{"data":[{"id":"large"},{"id":"new"},{"id":"text-embedding"}]}',)
        )
    }

    ran = await admin.call("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert result == {"provider": "acme", "listed": 3, "added": 1, "removed": 0, "error": None}
    ids = [row.id for row in admin.core.snapshot.models["acme"]]
    assert ids == ["large", "small", "vectors", "mine", "new"]
    assert await admin.call("GET", SYNC) == ran
    assert (await admin.chat("acme/new")).status_code == 200


async def test_synced_models_go_when_the_vendor_lists_them_no_more(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", "/api/models/custom", {"providerAlias": "acme", "id": "mine"})
    await admin.call("POST", SYNC)
    admin.vendor.written = {"/models": MockResponse((b'{"data":[{"id":"large"}]}',))}

    ran = await admin.call("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert (result["added"], result["removed"]) == (0, 1)
    ids = [row.id for row in admin.core.snapshot.models["acme"]]
    assert ids == ["large", "small", "vectors", "mine"]


async def test_a_synced_model_that_the_operator_changes_is_the_operators(
    admin: AdminGateway,
) -> None:
    await admin.connect()
    await admin.call("POST", SYNC)
    named = {"providerAlias": "acme", "id": "new", "name": "Renamed"}
    await admin.call("PATCH", "/api/models/custom", named)
    admin.vendor.written = {"/models": MockResponse((b'{"data":[]}',))}

    await admin.call("POST", SYNC)

    assert admin.core.snapshot.models["acme"][-1].name == "Renamed"


async def test_a_vendor_that_refuses_changes_nothing(admin: AdminGateway) -> None:
    await admin.connect()
    await admin.call("POST", SYNC)
    before = admin.core.snapshot.models["acme"]
    admin.vendor.written = {"/models": refused(401, "Incorrect API key: key-canary-0001")}

    ran = await admin.call("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert "***" in result["error"]
    assert admin.core.snapshot.models["acme"] == before
