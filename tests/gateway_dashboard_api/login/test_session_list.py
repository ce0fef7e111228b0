"""Who is signed in, and ending sessions: one, all, and those that came through the tunnel."""

import httpx2
import pytest
from login_gateway import PASSWORD, Browser, LoginGateway

pytestmark = pytest.mark.anyio
PATH = "/api/auth/sessions"
SETTINGS = "/api/settings"
REMOTE = "203.0.113.7"
TUNNEL = "https://mine.tunnel.example"


async def signed_in(server: LoginGateway, host: str = "127.0.0.1", **more: str) -> Browser:
    browser = await server.browser(host, **more)
    await browser.enter(PASSWORD)
    return browser


async def through_tunnel(server: LoginGateway) -> Browser:
    await server.store(tunnelUrl=TUNNEL)
    return await signed_in(server, REMOTE, base=TUNNEL)


async def test_sessions_are_listed_with_where_they_came_from(server: LoginGateway) -> None:
    here = await signed_in(server)
    server.pass_time(60)
    away = await signed_in(server, REMOTE, **{"user-agent": "Phone/1"})

    listed = (await here.call("GET", PATH))["sessions"]

    assert [row["address"] for row in listed] == [REMOTE, "127.0.0.1"]
    assert [row["current"] for row in listed] == [False, True]
    assert listed[0]["userAgent"] == "Phone/1"
    assert (listed[0]["method"], listed[0]["throughTunnel"]) == ("password", False)
    assert listed[0]["createdAt"] > listed[1]["createdAt"]
    assert all(row["expiresAt"] > row["createdAt"] for row in listed)
    assert away.cookies["auth_token"] not in str(listed)


async def test_one_session_is_ended_for_every_copy_of_its_token(server: LoginGateway) -> None:
    here, away = await signed_in(server), await signed_in(server, REMOTE)
    copy = await server.browser("203.0.113.8")
    copy.cookies.set("auth_token", away.cookies["auth_token"])
    (row,) = [row for row in (await here.call("GET", PATH))["sessions"] if not row["current"]]

    assert await here.call("DELETE", f"{PATH}/{row['id']}") == {"success": True}

    assert not await away.is_in()
    assert not await copy.is_in()
    assert await here.is_in()
    assert len((await here.call("GET", PATH))["sessions"]) == 1
    await here.call("DELETE", f"{PATH}/{row['id']}", status=404)
    assert "session.end" in [row.action for row in await server.sign_ins()]


async def test_signing_out_everywhere_ends_every_session(server: LoginGateway) -> None:
    here, away = await signed_in(server), await signed_in(server, REMOTE)
    unlisted = await server.browser(REMOTE)
    unlisted.cookies.set("auth_token", server.core.sessions.issue())
    assert await unlisted.is_in()

    assert await here.call("DELETE", PATH) == {"success": True}

    for browser in (here, away, unlisted):
        assert not await browser.is_in()
    assert "auth_token" not in here.cookies
    assert "session.end-all" in [row.action for row in await server.sign_ins()]
    again = await signed_in(server)
    assert len((await again.call("GET", PATH))["sessions"]) == 1


async def test_signing_out_and_a_changed_password_leave_the_list(server: LoginGateway) -> None:
    here, away, third = [await signed_in(server) for _ in range(3)]
    await away.call("POST", "/api/auth/logout")
    assert len((await here.call("GET", PATH))["sessions"]) == 2

    change = {"newPassword": "second-canary-word", "currentPassword": PASSWORD}
    await here.call("PATCH", SETTINGS, change)

    assert [row["current"] for row in (await here.call("GET", PATH))["sessions"]] == [True]
    assert not await third.is_in()


async def test_an_expired_session_leaves_the_list(server: LoginGateway) -> None:
    await signed_in(server)
    server.pass_time(24 * 3600)
    here = await signed_in(server)

    assert [row["current"] for row in (await here.call("GET", PATH))["sessions"]] == [True]
    rows = await server.core.stores.database.fetch("SELECT id FROM sessions")
    assert len(rows) == 1


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ({}, {"tunnelDashboardAccess": False}),
        ({"tunnelEnabled": True}, {"tunnelEnabled": False}),
    ],
    ids=["access", "tunnel"],
)
async def test_closing_the_tunnel_ends_its_sessions_wherever_their_tokens_are(
    server: LoginGateway, before: dict[str, bool], change: dict[str, bool]
) -> None:
    await server.store(**before)
    here, tunnel = await signed_in(server), await through_tunnel(server)
    copy = await server.browser("203.0.113.8")
    copy.cookies.set("auth_token", tunnel.cookies["auth_token"])
    assert await tunnel.is_in()
    assert await copy.is_in()

    await here.call("PATCH", SETTINGS, change)

    for browser in (tunnel, copy):
        assert not await browser.is_in()
    assert await here.is_in()
    await here.call("PATCH", SETTINGS, dict.fromkeys(change, True))
    assert not await tunnel.is_in()


async def test_no_session_counts_at_the_name_of_a_closed_tunnel(server: LoginGateway) -> None:
    here = await signed_in(server)
    await server.store(tunnelUrl=TUNNEL, tunnelDashboardAccess=False)
    tunnel = await server.browser(REMOTE, base=TUNNEL)
    tunnel.cookies.set("auth_token", here.cookies["auth_token"])

    assert not await tunnel.is_in()
    await server.store(tunnelDashboardAccess=True)
    assert await tunnel.is_in()


async def test_a_caller_without_a_session_sees_and_ends_none(server: LoginGateway) -> None:
    here, stranger = await signed_in(server), await server.browser(REMOTE)

    for method in ("GET", "DELETE"):
        answer: httpx2.Response = await stranger.request(method, PATH)
        assert answer.status_code == 401

    assert await here.is_in()
