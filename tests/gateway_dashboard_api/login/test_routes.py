"""Signing in with the password: cookies, origins and what the login page is told (S16, S17)."""

import logging

import bcrypt
import pytest
from cookies import cookie_of
from front_door import LOGIN, PASSWORD, House

pytestmark = pytest.mark.anyio
STATUS = "/api/auth/status"
SETTINGS = "/api/settings"


async def test_the_right_password_opens_and_the_wrong_one_does_not(house: House) -> None:
    browser = await house.browser()
    refused = await browser.enter("wrong canary", status=401)
    assert not await browser.is_in()

    entered = await browser.enter(PASSWORD)

    assert refused["error"] == "Invalid password"
    assert entered == {"success": True, "mustChangePassword": False}
    assert await browser.is_in()


async def test_the_cookie_is_out_of_reach(house: House) -> None:
    browser = await house.browser()

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
async def test_the_cookie_is_for_https_only_where_there_is_https(house: House, base: str) -> None:
    browser = await house.browser(base=base)

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
async def test_a_foreign_page_signs_nobody_in_and_changes_nothing(
    house: House, origin: str
) -> None:
    browser = await house.browser()
    foreign = {"origin": origin}

    answer = await browser.post(LOGIN, json={"password": PASSWORD}, headers=foreign)

    assert (answer.status_code, cookie_of(answer)) == (403, {})
    await browser.enter(PASSWORD)
    for method, path in (("PATCH", SETTINGS), ("GET", SETTINGS), ("POST", "/api/auth/mfa/setup")):
        body = None if method == "GET" else {"cavemanEnabled": True, "password": PASSWORD}
        await browser.ask(method, path, body, status=403, headers=foreign)
    assert not house.settings.caveman_enabled


@pytest.mark.parametrize("path", ["login", "change-password", "mfa/verify"])
async def test_a_step_of_signing_in_has_to_say_where_it_comes_from(house: House, path: str) -> None:
    browser = await house.browser()
    del browser.headers["origin"]
    body = {"password": PASSWORD, "proof": "x", "newPassword": "long enough", "code": "123456"}

    answer = await browser.ask("POST", f"/api/auth/{path}", body, status=403)

    assert answer["code"] == "foreign_origin"


async def test_a_request_of_another_site_without_an_origin_is_refused(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    del browser.headers["origin"]

    body = {"cavemanEnabled": True}
    sites = [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
    for site, status in sites:
        await browser.ask("PATCH", SETTINGS, body, status=status, headers={"sec-fetch-site": site})


async def test_only_json_signs_in(house: House) -> None:
    browser = await house.browser()

    answer = await browser.post(
        LOGIN, content=b'{"password":"x"}', headers={"content-type": "text/plain"}
    )

    assert answer.status_code == 415


async def test_nothing_is_changed_by_looking(house: House) -> None:
    browser = await house.browser()

    for path in ("login", "logout", "change-password", "reset-password", "mfa/verify"):
        answer = await browser.get(f"/api/auth/{path}", params={"password": PASSWORD})
        assert (answer.status_code in (401, 403, 405), cookie_of(answer)) == (True, {}), path


@pytest.mark.parametrize("variables", [{"JWT_SECRET": "too short"}, {"JWT_SECRET": ""}])
async def test_without_a_secret_nobody_signs_in_and_is_told_why(house: House) -> None:
    browser = await house.browser()

    for path in ("login", "change-password", "mfa/verify"):
        told = await browser.ask("POST", f"/api/auth/{path}", {}, status=503)
        assert "Set JWT_SECRET" in told["error"]
    assert (await browser.ask("GET", STATUS))["authenticated"] is False


async def test_an_older_hash_is_replaced_by_the_next_login(house: House) -> None:
    old = bcrypt.hashpw(b"older canary", bcrypt.gensalt(4)).decode()
    await house.store(password=old, passwordSessionEpoch="e")
    browser = await house.browser()

    await browser.enter("older canary")

    assert (house.settings.password or "").startswith("$argon2id$")
    assert house.settings.password_session_epoch == "e"
    await browser.enter("older canary")


async def test_a_stored_password_makes_the_initial_one_worthless(house: House) -> None:
    hashed = await house.admin.login.passwords.hash("stored canary")
    await house.store(password=hashed)
    browser = await house.browser()

    await browser.enter(PASSWORD, status=401)

    await browser.enter("stored canary")


async def test_what_cannot_be_read_lets_nobody_in(house: House) -> None:
    for data in ('{"password": 7}', '{"mfaEnabled": "yes"}', '{"passwordSessionEpoch": []}'):
        await house.damage("data", data)

        await (await house.browser()).enter(PASSWORD, status=503)


async def test_a_password_is_never_cut(house: House) -> None:
    await (await house.browser()).enter("x" * 1025, status=400)


@pytest.mark.parametrize("body", ["", [], {}, {"password": 1}, {"password": None}])
async def test_a_body_that_makes_no_sense_counts_as_nothing(house: House, body: object) -> None:
    browser = await house.browser()

    answer = await browser.post(LOGIN, json=body)

    assert answer.status_code == 400
    assert len(house.admin.login.lockout) == 0


async def test_the_tunnel_may_be_closed_to_the_dashboard(house: House) -> None:
    await house.store(tunnelUrl="https://mine.tunnel.example", tunnelDashboardAccess=False)
    tunnel = await house.browser(base="https://mine.tunnel.example")

    await tunnel.enter(PASSWORD, status=403)
    await (await house.browser()).enter(PASSWORD)
    await house.store(tunnelDashboardAccess=True)
    await tunnel.enter(PASSWORD)


async def test_the_password_is_no_way_in_where_only_oidc_is(house: House) -> None:
    await house.store(authMode="oidc")
    browser = await house.browser()

    assert (await browser.enter(PASSWORD, status=403))["code"] == "oidc_only"


async def test_the_status_before_and_after(house: House) -> None:
    browser = await house.browser()
    before = await browser.ask("GET", STATUS)
    await browser.enter(PASSWORD)

    after = await browser.ask("GET", STATUS)

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


async def test_settings_that_make_no_sense_show_a_closed_door(house: House) -> None:
    await house.store(requireLogin=False)
    await house.damage("data", '{"requireLogin": "maybe", "authMode": "magic", "mfaEnabled": 7}')

    shown = await (await house.browser()).ask("GET", STATUS)

    assert (shown["requireLogin"], shown["authMode"], shown["authenticated"]) == (
        True,
        "password",
        False,
    )


async def test_no_log_holds_a_password_or_a_token(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    browser = await house.browser()

    await browser.enter("wrong canary\r\n\x1b[31m", status=401)
    await browser.enter(PASSWORD)

    assert "canary" not in caplog.text
    assert browser.cookies["auth_token"] not in caplog.text
