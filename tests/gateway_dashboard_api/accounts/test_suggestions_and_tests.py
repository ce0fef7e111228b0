"""Further things to do with accounts and providers."""

import pytest
from fake_vendor import Said
from office import Office, refused

pytestmark = pytest.mark.anyio
PATH = "/api/providers"
SYNC = "/api/models/auto-sync"


async def test_models_are_tried_with_the_account_that_is_named(office: Office) -> None:
    first, second = await office.connect(), await office.connect(name="second")
    asked = {"models": [{"model": "large"}, {"model": "ac/small"}, {"model": "acme/large"}]}

    tested = await office.ask("POST", f"{PATH}/{second['id']}/test-models", asked)

    assert [(each["model"], each["ok"]) for each in tested["results"]] == [
        ("large", True),
        ("ac/small", True),
        ("acme/large", True),
    ]
    await office.core.ledger.aclose()
    rows = await office.core.stores.database.fetch("SELECT connection_id FROM usage")
    assert {each["connection_id"] for each in rows} == {second["id"]} != {first["id"]}


async def test_a_model_that_fails_is_told_apart(office: Office) -> None:
    row = await office.connect()
    office.vendor.said = {"/chat/completions": refused(404, "No such model")}
    asked = {"models": [{"model": "large"}, {"model": "vectors", "kind": "embedding"}]}

    tested = await office.ask("POST", f"{PATH}/{row['id']}/test-models", asked)

    assert [each["ok"] for each in tested["results"]] == [False, False]
    assert tested["results"][0]["status"] == 404
    assert "cannot be tested" in tested["results"][1]["error"]


async def test_only_an_account_in_use_is_tried(office: Office) -> None:
    row = await office.connect()
    asked = {"models": [{"model": "large"}]}
    await office.ask("PUT", f"{PATH}/{row['id']}", {"isActive": False})

    answer = await office.ask("POST", f"{PATH}/{row['id']}/test-models", asked, status=400)
    await office.ask("POST", f"{PATH}/nobody/test-models", asked, status=404)
    await office.ask("POST", f"{PATH}/{row['id']}/test-models", {"models": []}, status=400)

    assert answer["error"] == "Connection is not active"


async def test_the_wish_to_keep_an_account_warm_is_kept(office: Office) -> None:
    row = await office.connect()
    path = f"{PATH}/{row['id']}/auto-ping"

    on = await office.ask("PATCH", path, {"enabled": True})
    off = await office.ask("PATCH", path, {"enabled": False})

    assert (on["connection"]["autoPing"], off["connection"]["autoPing"]) == (True, False)
    await office.ask("PATCH", path, {}, status=400)
    await office.ask("PATCH", f"{PATH}/nobody/auto-ping", {"enabled": True}, status=404)


async def test_models_are_suggested_without_asking_anybody(office: Office) -> None:
    found = await office.ask("GET", f"{PATH}/suggested-models?type=ac")

    assert found["data"] == [
        {"id": "large", "name": "Acme Large", "kind": "llm", "contextLength": 1000},
        {"id": "small", "name": "small", "kind": "llm"},
        {"id": "vectors", "name": "vectors", "kind": "embedding"},
    ]
    assert office.vendor.calls() == []
    await office.ask("GET", f"{PATH}/suggested-models?type=nobody", status=400)
    await office.ask("GET", f"{PATH}/suggested-models", status=400)


async def test_before_the_first_run_nothing_was_synced(office: Office) -> None:
    assert await office.ask("GET", SYNC) == {"enabled": False, "lastRunAt": None, "results": []}


async def test_models_that_a_vendor_lists_are_taken_up(office: Office) -> None:
    await office.connect()
    await office.ask("POST", "/api/models/custom", {"providerAlias": "acme", "id": "mine"})
    office.vendor.said = {
        "/models": Said((b'{"data":[{"id":"large"},{"id":"new"},{"id":"text-embedding"}]}',))
    }

    ran = await office.ask("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert result == {"provider": "acme", "listed": 3, "added": 1, "removed": 0, "error": None}
    ids = [row.id for row in office.core.snapshot.models["acme"]]
    assert ids == ["large", "small", "vectors", "mine", "new"]
    assert await office.ask("GET", SYNC) == ran
    assert (await office.chat("acme/new")).status_code == 200


async def test_synced_models_go_when_the_vendor_lists_them_no_more(office: Office) -> None:
    await office.connect()
    await office.ask("POST", "/api/models/custom", {"providerAlias": "acme", "id": "mine"})
    await office.ask("POST", SYNC)
    office.vendor.said = {"/models": Said((b'{"data":[{"id":"large"}]}',))}

    ran = await office.ask("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert (result["added"], result["removed"]) == (0, 1)
    ids = [row.id for row in office.core.snapshot.models["acme"]]
    assert ids == ["large", "small", "vectors", "mine"]


async def test_a_synced_model_that_the_operator_changes_is_the_operators(office: Office) -> None:
    await office.connect()
    await office.ask("POST", SYNC)
    named = {"providerAlias": "acme", "id": "new", "name": "Renamed"}
    await office.ask("PATCH", "/api/models/custom", named)
    office.vendor.said = {"/models": Said((b'{"data":[]}',))}

    await office.ask("POST", SYNC)

    assert office.core.snapshot.models["acme"][-1].name == "Renamed"


async def test_a_vendor_that_refuses_changes_nothing(office: Office) -> None:
    await office.connect()
    await office.ask("POST", SYNC)
    before = office.core.snapshot.models["acme"]
    office.vendor.said = {"/models": refused(401, "Incorrect API key: key-canary-0001")}

    ran = await office.ask("POST", SYNC)

    result = next(each for each in ran["results"] if each["provider"] == "acme")
    assert "***" in result["error"]
    assert office.core.snapshot.models["acme"] == before
