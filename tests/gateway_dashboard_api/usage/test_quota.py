"""What an account may still use."""

import pytest
from admin_gateway import AdminGateway

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("query", ["", "?force=1"])
async def test_an_account_without_a_quota_says_so(admin: AdminGateway, query: str) -> None:
    account = await admin.connect()

    answer = await admin.call("GET", f"/api/usage/{account['id']}{query}")

    assert answer == {"message": "Usage not available for this connection"}


async def test_an_unknown_account_is_not_found(admin: AdminGateway) -> None:
    for path in ("/api/usage/nobody", "/api/usage/nobody/codex-reset-credits"):
        await admin.call("GET", path, status=404)


async def test_there_are_no_credits_to_use(admin: AdminGateway) -> None:
    account = await admin.connect()
    path = f"/api/usage/{account['id']}/codex-reset-credits"

    await admin.call("GET", path, status=400)
    answer = await admin.call("POST", path, {"grantId": "g-1"}, status=400)

    assert answer["error"] == "Reset credits are not available for this connection"
