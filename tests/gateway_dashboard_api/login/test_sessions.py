"""How long a session lasts, and its end for every copy of its token."""

import pytest
from login_gateway import PASSWORD, LoginGateway

from gateway_core.app import Gateway

pytestmark = pytest.mark.anyio
LOGOUT = "/api/auth/logout"
REMOTE = "203.0.113.7"


async def test_a_session_ends_after_a_day(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)

    server.pass_time(24 * 3600 - 1)
    assert await browser.is_in()
    server.pass_time(1)
    assert not await browser.is_in()


async def test_signing_out_ends_the_session(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)

    assert await browser.call("POST", LOGOUT) == {"success": True}

    assert not await browser.is_in()


async def test_a_copy_of_an_ended_session_is_invalid(
    server: LoginGateway,
) -> None:
    browser, other = await server.browser(), await server.browser()
    await browser.enter(PASSWORD)
    await other.enter(PASSWORD)
    thief = await server.browser(REMOTE)
    thief.cookies.set("auth_token", browser.cookies["auth_token"])
    assert await thief.is_in()

    await browser.call("POST", LOGOUT)

    assert not await thief.is_in()
    assert await other.is_in()


async def test_an_ended_session_is_ended_at_every_worker_and_after_a_restart(
    server: LoginGateway,
) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    token = browser.cookies["auth_token"]
    environment = server.core.environment
    async with Gateway.open(environment, clock=server.wall, shares_data=True) as worker:
        assert worker.core.sessions.read(token) is not None

        await browser.call("POST", LOGOUT)
        await worker.core.refresh()

        assert worker.core.sessions.read(token) is None
    async with Gateway.open(environment, clock=server.wall, shares_data=True) as later:
        assert later.core.sessions.read(token) is None


async def test_signing_out_again_or_with_a_forged_session_changes_nothing(
    server: LoginGateway,
) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    token = browser.cookies["auth_token"]
    await browser.call("POST", LOGOUT)
    ended = server.core.snapshot.ended_sessions

    for shown in (token, "a.b.c", token[:-5]):
        browser.cookies.set("auth_token", shown)
        assert await browser.call("POST", LOGOUT) == {"success": True}
        browser.cookies.clear()

    assert server.core.snapshot.ended_sessions == ended
    assert len(ended) == 1


async def test_another_sites_page_cannot_sign_out(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)

    await browser.call("POST", LOGOUT, status=403, headers={"origin": "https://evil.example"})

    assert await browser.is_in()
