"""Flags of the sign-in page, the audit trail, and how providers fare."""

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key, without_credentials

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.failure_rules import FailureClass

pytestmark = pytest.mark.anyio
HEALTH = "/api/health/providers"


async def test_the_sign_in_page_knows_whether_to_ask(admin: AdminGateway) -> None:
    await admin.call("PATCH", "/api/settings", {"requireLogin": False, "tunnelUrl": "https://t"})
    async with without_credentials(admin, "192.0.2.1") as here:
        flags = await here.call("GET", "/api/settings/require-login")

    assert flags == {
        "requireLogin": False,
        "tunnelDashboardAccess": True,
        "tunnelUrl": "https://t",
        "tailscaleUrl": "",
    }


async def test_the_audit_trail_is_shown_newest_first_page_by_page(admin: AdminGateway) -> None:
    for number in range(5):
        await admin.core.stores.audit.write(
            "cli", "127.0.0.1", "key.create" if number % 2 else "other", f"t{number}"
        )

    first = await admin.call("GET", "/api/audit?limit=2&offset=1")
    some = await admin.call("GET", "/api/audit?action=key.create")

    assert [row["target"] for row in first["rows"]] == ["t3", "t2"]
    assert (first["total"], first["limit"], first["offset"]) == (5, 2, 1)
    assert [row["target"] for row in some["rows"]] == ["t3", "t1"]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=-1", "offset=-1", "offset=9223372036854775808"]
)
async def test_a_page_that_makes_no_sense_is_refused(admin: AdminGateway, query: str) -> None:
    answer = await admin.call("GET", f"/api/audit?{query}", status=400)

    assert answer["error"] == f"Invalid {query.partition('=')[0]}"


async def test_the_audit_trail_is_for_operators(admin: AdminGateway) -> None:
    async with with_key(admin) as key:
        await key.call("GET", "/api/audit", status=403)
    async with without_credentials(admin) as here:
        await here.call("GET", "/api/audit", status=401)


async def test_a_providers_health_follows_its_accounts(admin: AdminGateway) -> None:
    one, two = await admin.connect(), await admin.connect(name="other")

    async def status() -> tuple[str, int]:
        page = await admin.call("GET", f"{HEALTH}?force=1")
        [row] = [row for row in page["providers"] if row["provider"] == "acme"]
        return row["status"], row["resting"]

    seen = [await status()]
    _rest(admin, one["id"], FailureClass(retry=True, cooldown=60))
    seen.append(await status())
    _rest(admin, one["id"], FailureClass(retry=True, cooldown=60, whole_account=True))
    seen.append(await status())
    _rest(admin, two["id"], FailureClass(retry=True, cooldown=60, whole_account=True))
    seen.append(await status())

    assert seen == [("healthy", 0), ("degraded", 0), ("degraded", 1), ("unavailable", 2)]


def _rest(admin: AdminGateway, account: str, verdict: FailureClass) -> None:
    admin.core.cooldowns.record_failure(account, "large", UpstreamError("no", status=500), verdict)


async def test_health_is_cached_for_a_moment(admin: AdminGateway) -> None:
    row = await admin.connect()
    first = await admin.call("GET", HEALTH)
    _rest(admin, row["id"], FailureClass(retry=True, cooldown=60, whole_account=True))

    kept = await admin.call("GET", HEALTH)
    await admin.call("DELETE", HEALTH)
    fresh = await admin.call("GET", HEALTH)

    assert (first["cached"], kept["cached"], fresh["cached"]) == (False, True, False)
    assert kept["providers"] == first["providers"] != fresh["providers"]
    assert admin.core.cooldowns.find(row["id"], EVERY_MODEL) is not None
