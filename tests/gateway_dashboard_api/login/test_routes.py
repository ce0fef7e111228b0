"""Signing in with the password: cookies, origins and what the login page is told (S16, S17)."""

import logging

import bcrypt
import pytest
from cookies import cookie_of
from login_gateway import LOGIN, PASSWORD, LoginGateway

pytestmark = pytest.mark.anyio
STATUS = "/api/auth/status"
SETTINGS = "/api/settings"


async def test_the_right_password_signs_in_and_a_wrong_one_does_not(server: LoginGateway) -> None:
    browser = await server.browser()
    refused = await browser.enter("wrong canary", status=401)
    assert not await browser.is_in()

    entered = await browser.enter(PASSWORD)

    assert refused["error"] == "Invalid password"
    assert entered == {"success": True, "mustChangePassword": False}
    assert await browser.is_in()


async def test_the_cookie_is_out_of_reach(server: LoginGateway) -> None:
    browser = await server.browser()

    cookie = cookie_of(await browser.post(LOGIN, json={"password": PASSWORD}))

    assert cookie.pop("auth_token").count(".") == 2
    assert {k: v for k, v in cookie.items() if k != "expires"} == {
        "httponly": "True",
        "samesite": "lax",
        "path": "/",
        "max-age": "86400",
    }


@pytest.mark.parametrize(
    ("variables", "base"),
    [
        ({"AUTH_COOKIE_SECURE": "TRUE"}, "http://127.0.0.1"),
        ({"BASE_URL": "https://gateway.example"}, "https://gateway.example"),
        ({"NEXT_PUBLIC_BASE_URL": "https://gateway.example/"}, "https://gateway.example"),
        ({}, "https://127.0.0.1"),
    ],
    ids=["said", "public origin", "older variable", "served over https"],
)
async def test_the_cookie_is_for_https_only_where_there_is_https(
    server: LoginGateway, base: str
) -> None:
    browser = await server.browser(base=base)

    answer = await browser.post(LOGIN, json={"password": PASSWORD})

    assert cookie_of(answer)["secure"] == "True"


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1:81",
        "https://127.0.0.1",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example",
        "http://localhost",
    ],
)
async def test_a_foreign_page_cannot_sign_in_or_change_anything(
    server: LoginGateway, origin: str
) -> None:
    browser = await server.browser()
    foreign = {"origin": origin}

    answer = await browser.post(LOGIN, json={"password": PASSWORD}, headers=foreign)

    assert (answer.status_code, cookie_of(answer)) == (403, {})
    await browser.enter(PASSWORD)
    for method, path in (("PATCH", SETTINGS), ("GET", SETTINGS), ("POST", "/api/auth/mfa/setup")):
        body = None if method == "GET" else {"cavemanEnabled": True, "password": PASSWORD}
        await browser.call(method, path, body, status=403, headers=foreign)
    assert not server.settings.caveman_enabled


@pytest.mark.parametrize("path", ["login", "change-password", "mfa/verify"])
async def test_a_step_of_signing_in_has_to_say_where_it_comes_from(
    server: LoginGateway, path: str
) -> None:
    browser = await server.browser()
    del browser.headers["origin"]
    body = {"password": PASSWORD, "proof": "x", "newPassword": "long enough", "code": "123456"}

    answer = await browser.call("POST", f"/api/auth/{path}", body, status=403)

    assert answer["code"] == "foreign_origin"


async def test_a_request_of_another_site_without_an_origin_is_refused(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    del browser.headers["origin"]

    body = {"cavemanEnabled": True}
    sites = [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
    for site, status in sites:
        await browser.call("PATCH", SETTINGS, body, status=status, headers={"sec-fetch-site": site})


async def test_only_json_signs_in(server: LoginGateway) -> None:
    browser = await server.browser()

    answer = await browser.post(
        LOGIN, content=b'{"password":"x"}', headers={"content-type": "text/plain"}
    )

    assert answer.status_code == 415


async def test_nothing_is_changed_by_looking(server: LoginGateway) -> None:
    browser = await server.browser()

    for path in ("login", "logout", "change-password", "reset-password", "mfa/verify"):
        answer = await browser.get(f"/api/auth/{path}", params={"password": PASSWORD})
        assert (answer.status_code in (401, 403, 405), cookie_of(answer)) == (True, {}), path


@pytest.mark.parametrize("variables", [{"JWT_SECRET": "too short"}, {"JWT_SECRET": ""}])
async def test_without_a_secret_the_login_responds_with_the_reason(server: LoginGateway) -> None:
    browser = await server.browser()

    for path in ("login", "change-password", "mfa/verify"):
        reported = await browser.call("POST", f"/api/auth/{path}", {}, status=503)
        assert "Set JWT_SECRET" in reported["error"]
    assert (await browser.call("GET", STATUS))["authenticated"] is False


async def test_an_older_hash_is_replaced_by_the_next_login(server: LoginGateway) -> None:
    old = bcrypt.hashpw(b"older canary", bcrypt.gensalt(4)).decode()
    await server.store(password=old, passwordSessionEpoch="e")
    browser = await server.browser()

    await browser.enter("older canary")

    assert (server.settings.password or "").startswith("$argon2id$")
    assert server.settings.password_session_epoch == "e"
    await browser.enter("older canary")


async def test_a_stored_password_replaces_the_initial_one(server: LoginGateway) -> None:
    hashed = await server.admin.login.passwords.hash("stored canary")
    await server.store(password=hashed)
    browser = await server.browser()

    await browser.enter(PASSWORD, status=401)

    await browser.enter("stored canary")


async def test_unreadable_settings_permit_no_login(server: LoginGateway) -> None:
    for data in ('{"password": 7}', '{"mfaEnabled": "yes"}', '{"passwordSessionEpoch": []}'):
        await server.damage("data", data)

        await (await server.browser()).enter(PASSWORD, status=503)


async def test_a_password_is_never_truncated(server: LoginGateway) -> None:
    await (await server.browser()).enter("x" * 1025, status=400)


@pytest.mark.parametrize("body", ["", [], {}, {"password": 1}, {"password": None}])
async def test_a_body_that_makes_no_sense_counts_as_nothing(
    server: LoginGateway, body: object
) -> None:
    browser = await server.browser()

    answer = await browser.post(LOGIN, json=body)

    assert answer.status_code == 400
    assert len(server.admin.login.lockout) == 0


async def test_the_tunnel_may_be_closed_to_the_dashboard(server: LoginGateway) -> None:
    await server.store(tunnelUrl="https://mine.tunnel.example", tunnelDashboardAccess=False)
    tunnel = await server.browser(base="https://mine.tunnel.example")

    await tunnel.enter(PASSWORD, status=403)
    await (await server.browser()).enter(PASSWORD)
    await server.store(tunnelDashboardAccess=True)
    await tunnel.enter(PASSWORD)


async def test_the_password_is_refused_where_only_oidc_is_allowed(server: LoginGateway) -> None:
    await server.store(authMode="oidc")
    browser = await server.browser()

    assert (await browser.enter(PASSWORD, status=403))["code"] == "oidc_only"


async def test_the_status_before_and_after(server: LoginGateway) -> None:
    browser = await server.browser()
    before = await browser.call("GET", STATUS)
    await browser.enter(PASSWORD)

    after = await browser.call("GET", STATUS)

    assert before == {
        "requireLogin": True,
        "authMode": "password",
        "mfaEnabled": False,
        "oidcConfigured": False,
        "oidcLoginLabel": "Sign in with OIDC",
        "hasPassword": False,
        "usingDefaultPassword": False,
        "authenticated": False,
        "displayName": None,
        "loginMethod": None,
        "oidcLogin": False,
        "oidcName": None,
        "oidcEmail": None,
    }
    changed = {"authenticated": True, "displayName": "admin", "loginMethod": "Password"}
    assert after == {**before, **changed}


async def test_settings_that_make_no_sense_show_a_closed_door(server: LoginGateway) -> None:
    await server.store(requireLogin=False)
    await server.damage("data", '{"requireLogin": "maybe", "authMode": "magic", "mfaEnabled": 7}')

    shown = await (await server.browser()).call("GET", STATUS)

    assert (shown["requireLogin"], shown["authMode"], shown["authenticated"]) == (
        True,
        "password",
        False,
    )


async def test_no_log_contains_a_password_or_a_token(
    server: LoginGateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    browser = await server.browser()

    await browser.enter("wrong canary\r\n\x1b[31m", status=401)
    await browser.enter(PASSWORD)

    assert "canary" not in caplog.text
    assert browser.cookies["auth_token"] not in caplog.text
