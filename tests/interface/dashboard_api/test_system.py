"""The state of the running gateway."""

import shutil

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key, with_session, without_credentials

from gateway_core.storage.errors import StorageUnavailable
from gateway_core.storage.moments import seconds

pytestmark = pytest.mark.anyio
PATH = "/api/system"


async def test_it_tells_what_runs_since_when_and_on_what(admin: AdminGateway) -> None:
    state = await admin.call("GET", PATH)

    assert state["version"] == (await admin.call("GET", "/api/version"))["currentVersion"]
    assert 0 <= state["uptime"] < 600
    assert abs(seconds(state["startedAt"]) + state["uptime"] - admin.core.clock()) < 5
    assert state["plugins"]["loaded"] == state["plugins"]["found"] > 5
    assert state["inFlight"] == 0
    assert (state["draining"], state["memory"]["full"]) == (False, False)


async def test_it_tells_how_much_room_there_is(admin: AdminGateway) -> None:
    state = await admin.call("GET", PATH)

    disk, usage = state["disk"], shutil.disk_usage(admin.core.data_dir.path)
    assert (disk["path"], disk["size"]) == (str(admin.core.data_dir.path), usage.total)
    assert abs(disk["free"] - usage.free) < usage.total / 10
    assert 0 < state["memory"]["used"] < state["memory"]["size"]


async def test_it_tells_how_the_database_is(admin: AdminGateway) -> None:
    database = (await admin.call("GET", PATH))["database"]

    assert (database["engine"], database["error"]) == ("sqlite", None)
    assert database["version"].startswith("3.")
    assert database["size"] >= admin.core.data_dir.database.stat().st_size > 0
    assert database["latencyMs"] >= 0
    assert database["servingFallback"] is False


async def test_a_database_that_is_away_is_no_reason_to_say_nothing(
    admin: AdminGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*words: object, **values: object) -> None:
        raise StorageUnavailable("The database does not answer")

    monkeypatch.setattr(admin.core.stores.database.current, "fetch", away)

    database = (await admin.call("GET", PATH))["database"]

    assert (database["version"], database["size"], database["latencyMs"]) == (None, None, None)
    assert database["error"] == "The database does not answer"


async def test_it_is_for_the_operator(admin: AdminGateway) -> None:
    async with without_credentials(admin, "192.0.2.1") as stranger:
        await stranger.call("GET", PATH, status=401)
    async with with_key(admin) as key:
        await key.call("GET", PATH, status=403)
    async with with_session(admin) as person:
        await person.call("GET", PATH)


async def test_it_says_plainly_that_no_prompt_is_compressed(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", {"headroomUrl": f"{admin.vendor.url}/own?x=1"})
    running = await admin.call("GET", "/api/headroom/status")
    await admin.call("PATCH", "/api/settings", {"headroomUrl": "http://127.0.0.1:9"})
    absent = await admin.call("GET", "/api/headroom/status")
    stats = await admin.call("GET", "/api/headroom/stats")

    assert (running["running"], running["url"]) == (True, admin.vendor.url)
    assert (absent["running"], absent["status"]) == (False, None)
    assert absent["error"]
    assert (stats["available"], stats["tokensSaved"]) == (False, 0)
