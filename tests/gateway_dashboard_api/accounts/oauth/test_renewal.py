"""Tokens are renewed before they expire and when they are refused, by one process at a time."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway, opened
from oauth_server import OAuthServer
from oauth_vendor import SignedInVendor, signed_in, specs
from served_gateway import vendor_plugin
from snapshots import Clock

from gateway_dashboard_api.accounts.oauth.background import Keeper
from gateway_dashboard_api.accounts.oauth.renewal import ENDED, is_due

pytestmark = pytest.mark.anyio
MODEL = "acme-id/large"


@pytest.fixture
def plugins(vendor: SignedInVendor, server: OAuthServer) -> dict[str, object]:
    return {"logins": vendor_plugin(specs(vendor, server))}


@pytest.fixture
async def admin(
    tmp_path: Path, clock: Clock, plugins: dict[str, object]
) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {}, clock, plugins) as here:
        yield here


async def looked(admin: AdminGateway) -> None:
    """One look of the background's."""
    await Keeper(admin.core).look()


async def row_of(admin: AdminGateway, id: str) -> dict[str, Any]:
    shown = await admin.call("GET", f"/api/providers/{id}")
    row: dict[str, Any] = shown["connection"]
    return row


def refreshes(server: OAuthServer) -> int:
    return len(server.asked("/token", grant_type="refresh_token"))


async def test_a_token_is_renewed_before_it_expires(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    row = await signed_in(admin, server)
    before = await admin.stored(row["id"])
    clock.now += 3600 - 301
    await looked(admin)
    assert refreshes(server) == 0
    clock.now += 2

    await looked(admin)

    after = await admin.stored(row["id"])
    assert refreshes(server) == 1
    assert before.keys() == after.keys()
    assert all(before[name] != after[name] for name in before)
    assert (await row_of(admin, row["id"]))["expiresAt"] > row["expiresAt"]
    assert (await admin.chat(MODEL)).status_code == 200
    assert refreshes(server) == 1


async def test_a_refused_token_is_renewed_once_and_the_call_sent_once_more(
    admin: AdminGateway, server: OAuthServer, vendor: SignedInVendor, clock: Clock
) -> None:
    await signed_in(admin, server)
    server.expire()
    clock.now += 60

    answer = await admin.chat(MODEL)

    assert answer.status_code == 200, answer.text
    assert refreshes(server) == 1
    first, second = vendor.calls("/chat/completions")
    assert first.headers["authorization"] != second.headers["authorization"]
    assert first.body == second.body
    assert server.thefts == 0


async def test_many_calls_with_one_refused_token_renew_it_once(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    await signed_in(admin, server)
    server.expire()
    clock.now += 60

    answers = await asyncio.gather(*(admin.chat(MODEL) for _ in range(12)))

    assert [each.status_code for each in answers] == [200] * 12
    assert refreshes(server) == 1
    assert server.thefts == 0


async def test_a_new_token_that_is_refused_too_is_the_vendors_refusal(
    admin: AdminGateway, server: OAuthServer, vendor: SignedInVendor, clock: Clock
) -> None:
    await signed_in(admin, server)
    clock.now += 60
    vendor.server = OAuthServer()  # It knows none of the tokens.

    answer = await admin.chat(MODEL)

    assert answer.status_code == 401
    assert refreshes(server) == 1
    assert len(vendor.calls("/chat/completions")) == 2


async def test_two_gateways_on_one_database_renew_once(
    tmp_path: Path, clock: Clock, plugins: dict[str, object], server: OAuthServer
) -> None:
    async with (
        opened(tmp_path, {}, clock, plugins) as one,
        opened(tmp_path, {}, clock, plugins, shares_data=True) as other,
    ):
        row = await signed_in(one, server)
        await other.core.refresh()
        clock.now += 3600 - 200
        server.holding = threading.Event()
        looks = [asyncio.create_task(looked(each)) for each in (one, other)]
        while refreshes(server) == 0:
            await asyncio.sleep(0.01)
        server.holding.set()
        await asyncio.gather(*looks)

        assert refreshes(server) == 1
        assert server.thefts == 0
        assert await one.stored(row["id"]) == await other.stored(row["id"])
        for each in (one, other):
            assert (await each.chat(MODEL)).status_code == 200
        assert refreshes(server) == 1


async def test_calls_at_two_gateways_with_one_refused_token_renew_it_once(
    tmp_path: Path, clock: Clock, plugins: dict[str, object], server: OAuthServer
) -> None:
    async with (
        opened(tmp_path, {}, clock, plugins) as one,
        opened(tmp_path, {}, clock, plugins, shares_data=True) as other,
    ):
        await signed_in(one, server)
        await other.core.refresh()
        clock.now += 60
        server.expire()

        answers = await asyncio.gather(*(each.chat(MODEL) for each in (one, other) * 4))

        assert [each.status_code for each in answers] == [200] * 8
        assert refreshes(server) == 1
        assert server.thefts == 0


async def test_a_login_outlives_a_restart(
    tmp_path: Path, clock: Clock, plugins: dict[str, object], server: OAuthServer
) -> None:
    async with opened(tmp_path, {}, clock, plugins) as first:
        await signed_in(first, server)
    clock.now += 7200
    server.expire()

    async with opened(tmp_path, {}, clock, plugins) as second:
        answer = await second.chat(MODEL)

    assert answer.status_code == 200, answer.text
    assert refreshes(server) == 1


async def test_the_background_renews_what_expired_while_the_gateway_was_away(
    tmp_path: Path, clock: Clock, plugins: dict[str, object], server: OAuthServer
) -> None:
    async with opened(tmp_path, {}, clock, plugins) as first:
        row = await signed_in(first, server)
    clock.now += 7200

    async with opened(tmp_path, {}, clock, plugins) as second:
        while (await row_of(second, row["id"]))["expiresAt"] == row["expiresAt"]:
            await asyncio.sleep(0.02)

    assert refreshes(server) == 1


async def test_a_client_that_goes_away_does_not_cost_the_new_token(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    row = await signed_in(admin, server)
    before = await admin.stored(row["id"])
    server.expire()
    server.holding = threading.Event()
    clock.now += 60
    call = asyncio.create_task(admin.chat(MODEL))
    while refreshes(server) == 0:
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait([call])
    server.holding.set()

    while await admin.stored(row["id"]) == before:
        await asyncio.sleep(0.02)

    assert (await admin.chat(MODEL)).status_code == 200
    assert (refreshes(server), server.thefts) == (1, 0)


async def test_a_login_that_the_vendor_has_ended_says_so(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    row = await signed_in(admin, server)
    server.end()
    clock.now += 3600

    await looked(admin)
    await looked(admin)
    answer = await admin.chat(MODEL)

    shown = await row_of(admin, row["id"])
    assert refreshes(server) == 1
    assert (shown["testStatus"], shown["lastError"]) == ("reauth_required", ENDED)
    assert shown["errorCode"] == "invalid_grant"
    assert answer.status_code == 401
    assert ENDED in answer.text
    assert "refreshToken" not in await admin.stored(row["id"])


async def test_another_account_serves_in_the_place_of_one_whose_login_has_ended(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    await signed_in(admin, server)
    server.end()
    await signed_in(admin, server)

    answer = await admin.chat(MODEL)

    assert answer.status_code == 200, answer.text


async def test_a_login_without_a_refresh_token_ends_with_its_token(
    admin: AdminGateway, server: OAuthServer, clock: Clock
) -> None:
    server.gives_refresh_tokens = False
    row = await signed_in(admin, server)
    clock.now += 3500
    await looked(admin)
    early = await row_of(admin, row["id"])
    clock.now += 101

    await looked(admin)

    assert early["testStatus"] == "unknown"
    assert (await row_of(admin, row["id"]))["testStatus"] == "reauth_required"
    assert refreshes(server) == 0


async def test_a_key_account_of_the_same_vendor_is_never_renewed(
    admin: AdminGateway, server: OAuthServer, vendor: SignedInVendor
) -> None:
    await admin.connect("acme-id", apiKey="key-canary-wrong")

    answer = await admin.chat(MODEL)

    assert answer.status_code == 401
    assert len(vendor.calls("/chat/completions")) == 1
    assert server.calls == []


@pytest.mark.parametrize(
    ("life", "left", "expected"),
    [
        (3600, 301, False),
        (3600, 300, True),
        (3600, -5, True),
        (100, 26, False),
        (100, 25, True),
        (None, 299, True),
    ],
)
def test_when_a_token_is_due(life: float | None, left: float, expected: bool) -> None:
    state = {"expiresIn": life, "expiresAt": "2027-01-15T08:00:00.000Z"}
    end = 1_800_000_000.0

    assert is_due(state, end - left) is expected
    assert not is_due({**state, "testStatus": "reauth_required"}, end - left)
    assert not is_due({"expiresIn": life}, end)
    assert not is_due({"expiresAt": "soon"}, end)
