"""Flags of the sign-in page, the audit trail, and how providers fare."""

import pytest
from audiences import by_key, nobody
from office import Office

from gateway_core.contracts.errors import UpstreamError
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.failure_rules import FailureClass

pytestmark = pytest.mark.anyio
HEALTH = "/api/health/providers"


async def test_the_sign_in_page_knows_whether_to_ask(office: Office) -> None:
    await office.ask("PATCH", "/api/settings", {"requireLogin": False, "tunnelUrl": "https://t"})
    async with nobody(office, "192.0.2.1") as here:
        flags = await here.ask("GET", "/api/settings/require-login")

    assert flags == {
        "requireLogin": False,
        "tunnelDashboardAccess": True,
        "tunnelUrl": "https://t",
        "tailscaleUrl": "",
    }


async def test_the_audit_trail_is_shown_newest_first_page_by_page(office: Office) -> None:
    for number in range(5):
        await office.core.stores.audit.write(
            "cli", "127.0.0.1", "key.create" if number % 2 else "other", f"t{number}"
        )

    first = await office.ask("GET", "/api/audit?limit=2&offset=1")
    some = await office.ask("GET", "/api/audit?action=key.create")

    assert [row["target"] for row in first["rows"]] == ["t3", "t2"]
    assert (first["total"], first["limit"], first["offset"]) == (5, 2, 1)
    assert [row["target"] for row in some["rows"]] == ["t3", "t1"]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=-1", "offset=-1", "offset=9223372036854775808"]
)
async def test_a_page_that_makes_no_sense_is_refused(office: Office, query: str) -> None:
    answer = await office.ask("GET", f"/api/audit?{query}", status=400)

    assert answer["error"] == f"Invalid {query.partition('=')[0]}"


async def test_the_audit_trail_is_for_operators(office: Office) -> None:
    async with by_key(office) as key:
        await key.ask("GET", "/api/audit", status=403)
    async with nobody(office) as here:
        await here.ask("GET", "/api/audit", status=401)


async def test_providers_fare_as_their_accounts_do(office: Office) -> None:
    one, two = await office.connect(), await office.connect(name="other")

    async def status() -> tuple[str, int]:
        page = await office.ask("GET", f"{HEALTH}?force=1")
        [row] = [row for row in page["providers"] if row["provider"] == "acme"]
        return row["status"], row["resting"]

    seen = [await status()]
    _rest(office, one["id"], FailureClass(retry=True, cooldown=60))
    seen.append(await status())
    _rest(office, one["id"], FailureClass(retry=True, cooldown=60, whole_account=True))
    seen.append(await status())
    _rest(office, two["id"], FailureClass(retry=True, cooldown=60, whole_account=True))
    seen.append(await status())

    assert seen == [("healthy", 0), ("degraded", 0), ("degraded", 1), ("unavailable", 2)]


def _rest(office: Office, account: str, verdict: FailureClass) -> None:
    office.core.cooldowns.record_failure(account, "large", UpstreamError("no", status=500), verdict)


async def test_a_picture_of_health_is_kept_for_a_moment(office: Office) -> None:
    row = await office.connect()
    first = await office.ask("GET", HEALTH)
    _rest(office, row["id"], FailureClass(retry=True, cooldown=60, whole_account=True))

    kept = await office.ask("GET", HEALTH)
    await office.ask("DELETE", HEALTH)
    fresh = await office.ask("GET", HEALTH)

    assert (first["cached"], kept["cached"], fresh["cached"]) == (False, True, False)
    assert kept["providers"] == first["providers"] != fresh["providers"]
    assert office.core.cooldowns.find(row["id"], EVERY_MODEL) is not None
