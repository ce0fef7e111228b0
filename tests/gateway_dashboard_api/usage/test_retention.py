"""Deleting what is old."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import with_key, without_credentials
from collaborators import replace_collaborator
from ledger_rows import DAY, NOW, keep, row
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.request_details import RequestDetail
from gateway_dashboard_api.usage.retention_runs import run_if_due

pytestmark = pytest.mark.anyio
PATH = "/api/data-retention"


async def left(admin: AdminGateway) -> int:
    answer = await admin.call("GET", "/api/usage/history")
    count: int = answer["total"]
    return count


def is_on_disk(word: bytes, folder: Path) -> bool:
    return any(word in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_at_first_nothing_is_deleted_by_itself(admin: AdminGateway) -> None:
    assert await admin.call("GET", PATH) == {
        "enabled": False,
        "days": 30,
        "presets": [7, 15, 30, 60, 90],
        "lastRun": None,
    }


async def test_what_is_older_goes_and_the_run_is_remembered(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(6.9 * DAY), row(7.1 * DAY), row(300 * DAY))
    detail = RequestDetail(request_id="old", finished_at=iso(NOW - 8 * DAY))
    await admin.core.stores.request_details.insert_many([detail], keep=10)

    answer = await admin.call("POST", PATH, {"days": 7})

    assert answer == {
        "ranAt": iso(NOW),
        "trigger": "manual",
        "days": 7,
        "cutoff": iso(NOW - 7 * DAY),
        "deleted": {"usage": 2, "requestDetails": 1, "timeline": 0, "quotaSnapshots": 0},
    }
    assert await left(admin) == 2
    assert (await admin.call("GET", PATH))["lastRun"] == answer
    rows, _ = await own_stores(admin.core).audit.page(AuditFilter(action="retention.run"))
    assert [one.detail for one in rows] == [{"days": 7}]


async def test_without_a_number_the_setting_counts(admin: AdminGateway) -> None:
    await keep(admin, row(29 * DAY), row(31 * DAY))

    assert (await admin.call("POST", PATH, {}))["days"] == 30
    assert await left(admin) == 1


@pytest.mark.parametrize("days", [0, -1, 3651, 1.5, "7", True, [7]], ids=str)
async def test_a_number_of_days_that_cannot_be_is_refused(admin: AdminGateway, days: Any) -> None:
    await keep(admin, row(4000 * DAY))

    answer = await admin.call("POST", PATH, {"days": days}, status=400)

    assert answer["error"] == "Invalid days"
    assert await left(admin) == 1


async def test_once_a_day_what_is_old_goes_by_itself(admin: AdminGateway) -> None:
    await keep(admin, row(0), row(31 * DAY))
    assert await run_if_due(admin.core) is None

    await admin.call("PATCH", "/api/settings", {"dataRetentionEnabled": True})
    first = await run_if_due(admin.core)
    replace_collaborator(admin.core, "clock", lambda: NOW + DAY - 1)
    second = await run_if_due(admin.core)
    replace_collaborator(admin.core, "clock", lambda: NOW + DAY)
    third = await run_if_due(admin.core)

    assert first is not None
    assert (first.trigger, first.deleted.usage) == ("scheduled", 1)
    assert second is None
    assert third is not None


async def test_a_clock_that_was_set_back_does_not_stop_it(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", {"dataRetentionEnabled": True})
    await keep(admin)
    await run_if_due(admin.core)

    replace_collaborator(admin.core, "clock", lambda: NOW - DAY)

    assert await run_if_due(admin.core) is not None


async def test_deleted_rows_are_gone_from_the_disk(admin: AdminGateway, tmp_path: Path) -> None:
    detail = RequestDetail(
        request_id="old", finished_at=iso(NOW - 8 * DAY), request={"body": "a-word-to-look-for"}
    )
    await admin.core.stores.request_details.insert_many([detail], keep=10)
    await keep(admin)
    assert is_on_disk(b"a-word-to-look-for", tmp_path)

    await admin.call("POST", PATH, {"days": 7})

    assert not is_on_disk(b"a-word-to-look-for", tmp_path)


async def test_only_an_operator_who_has_proven_it_may_delete(admin: AdminGateway) -> None:
    async with with_key(admin) as caller:
        await caller.call("GET", PATH, status=403)
        await caller.call("POST", PATH, {"days": 7}, status=403)
    await admin.call("PATCH", "/api/settings", {"requireLogin": False})
    async with without_credentials(admin) as caller:
        await caller.call("GET", PATH)
        await caller.call("POST", PATH, {"days": 7}, status=401)


async def test_a_gateway_looks_after_it_from_its_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with opened(folder, {}) as admin:
        await admin.call("PATCH", "/api/settings", {"dataRetentionEnabled": True})

    async with opened(folder, {}) as admin, asyncio.timeout(20):
        while (last := (await admin.call("GET", PATH))["lastRun"]) is None:
            continue

    assert last["trigger"] == "scheduled"
