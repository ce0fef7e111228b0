"""What a client is answered while accounts rest."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened, refused
from fake_vendor import MockResponse

pytestmark = pytest.mark.anyio
MEANINGS = [
    (401, "authentication_error", "invalid_api_key"),
    (402, "billing_error", "payment_required"),
    (403, "permission_error", "insufficient_quota"),
    (404, "invalid_request_error", "model_not_found"),
    (429, "rate_limit_error", "rate_limit_exceeded"),
    (500, "server_error", "service_unavailable"),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {}) as here:
        yield here


async def node(admin: AdminGateway) -> dict[str, Any]:
    body = {"name": "Mine", "prefix": "mine", "baseUrl": f"{admin.vendor.url}/v1"}
    made = await admin.call("POST", "/api/provider-nodes", body, status=201)
    await admin.connect(made["node"]["id"])
    found: dict[str, Any] = made["node"]
    return found


@pytest.mark.parametrize(("status", "type_", "code"), MEANINGS)
async def test_the_second_refusal_means_what_the_first_meant(
    admin: AdminGateway, status: int, type_: str, code: str
) -> None:
    await node(admin)
    admin.vendor.written["/chat/completions"] = MockResponse((b"no more",), status)

    first, second = await admin.chat("mine/m"), await admin.chat("mine/m")

    assert (first.status_code, second.status_code) == (status, status)
    error = second.json()["error"]
    assert (error["type"], error["code"]) == (type_, code)
    assert error["message"].startswith("[mine/m] no more (reset after ")
    assert len(admin.vendor.calls("/chat/completions")) == 1


async def test_the_first_rate_limit_says_how_long_the_only_account_rests(
    admin: AdminGateway,
) -> None:
    await admin.connect()
    admin.vendor.written["/chat/completions"] = refused(429, "slow down")

    first = await admin.chat("acme/large")

    assert (first.status_code, first.headers["retry-after"]) == (429, "2")


async def test_no_text_shows_the_id_of_a_node(admin: AdminGateway) -> None:
    made = await node(admin)
    accounts = (await admin.call("GET", "/api/providers"))["connections"]
    [account] = [each for each in accounts if each["provider"] == made["id"]]
    hidden = {"providerAlias": made["id"], "ids": ["off"]}
    await admin.call("POST", "/api/models/disabled", hidden)

    disabled = await admin.chat("mine/off")
    await admin.call("PUT", f"/api/providers/{account['id']}", {"isActive": False})
    without_account = await admin.chat("mine/m")

    assert (disabled.status_code, without_account.status_code) == (400, 404)
    assert "mine/off" in disabled.text
    assert "for provider: mine." in without_account.text
    assert made["id"] not in disabled.text + without_account.text
