"""Signing in and out with the password: cookies, origins, lockout (S16 to S18, S38)."""

import logging
from http.cookies import SimpleCookie

import anyio
import bcrypt
import httpx2
import pytest
from front_door import LOGIN, PASSWORD, Browser, House

from gateway_core.app import Gateway
from gateway_core.identity.lockout import HINT

pytestmark = pytest.mark.anyio
STATUS = "/api/auth/status"
LOGOUT = "/api/auth/logout"
SETTINGS = "/api/settings"
REMOTE = "203.0.113.7"


def cookie_of(answer: httpx2.Response, name: str = "auth_token") -> dict[str, str]:
    """A cookie's attributes as they were sent, with its value under its own name."""
    for line in answer.headers.get_list("set-cookie"):
        jar = SimpleCookie(line)
        if name in jar:
            return {name: jar[name].value} | {k: str(v) for k, v in jar[name].items() if v}
    return {}


async def wrong(browser: Browser, times: int) -> list[int]:
    """What is said to be left after each of several wrong passwords."""
    said = [await browser.enter("wrong canary", status=401) for _ in range(times)]
    return [each["remainingBeforeLock"] for each in said]


async def test_the_right_password_opens_and_the_wrong_one_does_not(house: House) -> None:
    browser = await house.browser()
    refused = await browser.enter("wrong canary", status=401)
    assert not await browser.is_in()

    entered = await browser.enter(PASSWORD)

    assert refused["error"] == "Invalid password"
    assert entered == {"success": True, "mustChangePassword": False}
    assert await browser.is_in()


async def test_a_session_ends_after_a_day(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)

    house.pass_time(24 * 3600 - 1)
    assert await browser.is_in()
    house.pass_time(1)
    assert not await browser.is_in()


async def test_whoever_signs_out_is_out(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)

    assert await browser.ask("POST", LOGOUT) == {"success": True}

    assert not await browser.is_in()


async def test_a_copy_of_a_session_that_was_signed_out_of_is_worth_nothing(house: House) -> None:
    browser, other = await house.browser(), await house.browser()
    await browser.enter(PASSWORD)
    await other.enter(PASSWORD)
    thief = await house.browser(REMOTE)
    thief.cookies.set("auth_token", browser.cookies["auth_token"])
    assert await thief.is_in()

    await browser.ask("POST", LOGOUT)

    assert not await thief.is_in()
    assert await other.is_in()


async def test_whoever_signed_out_is_out_at_every_worker_and_after_a_restart(
    house: House,
) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    token = browser.cookies["auth_token"]
    environment = house.core.environment
    async with Gateway.open(environment, clock=house.wall, shares_data=True) as worker:
        assert worker.core.sessions.read(token) is not None

        await browser.ask("POST", LOGOUT)
        await worker.core.refresh()

        assert worker.core.sessions.read(token) is None
    async with Gateway.open(environment, clock=house.wall, shares_data=True) as later:
        assert later.core.sessions.read(token) is None


async def test_signing_out_again_or_with_a_forged_session_changes_nothing(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    token = browser.cookies["auth_token"]
    await browser.ask("POST", LOGOUT)
    ended = house.core.tables.ended_sessions

    for shown in (token, "a.b.c", token[:-5]):
        browser.cookies.set("auth_token", shown)
        assert await browser.ask("POST", LOGOUT) == {"success": True}
        browser.cookies.clear()

    assert house.core.tables.ended_sessions == ended
    assert len(ended) == 1


async def test_another_sites_page_signs_nobody_out(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)

    await browser.ask("POST", LOGOUT, status=403, headers={"origin": "https://evil.example"})

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


async def test_five_failures_lock_everybody_out_at_that_address(house: House) -> None:
    browser, other = await house.browser(REMOTE), await house.browser("203.0.113.8")
    assert await wrong(browser, 5) == [4, 3, 2, 1, 0]

    answer = await browser.post(LOGIN, json={"password": PASSWORD})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    body = answer.json()
    assert (body["retryAfter"], body["resetHint"]) == (30, HINT)
    assert cookie_of(answer) == {}
    await other.enter(PASSWORD)


async def test_the_second_lock_is_longer_and_a_quiet_hour_forgets(house: House) -> None:
    browser = await house.browser(REMOTE)
    waits = []
    for pause in (30, 3600, 0):
        await wrong(browser, 5)
        waits.append((await browser.enter(PASSWORD, status=429))["retryAfter"])
        house.pass_time(pause)

    assert waits == [30, 120, 30]


async def test_being_right_forgets_what_was_wrong(house: House) -> None:
    browser = await house.browser(REMOTE)
    await wrong(browser, 4)

    await browser.enter(PASSWORD)

    assert await wrong(browser, 1) == [4]


@pytest.mark.parametrize("step", [-3600, 24 * 3600])
async def test_the_wall_clock_neither_locks_nor_unlocks(house: House, step: float) -> None:
    browser = await house.browser(REMOTE)
    await wrong(browser, 5)
    house.monotonic.now += 10

    house.wall.now += step

    assert (await browser.enter(PASSWORD, status=429))["retryAfter"] == 20
    house.monotonic.now += 20
    await browser.enter(PASSWORD)


async def test_guesses_made_together_do_not_pass_together(house: House) -> None:
    browser = await house.browser(REMOTE)
    statuses: list[int] = []

    async def guess(password: str) -> None:
        answer = await browser.post(LOGIN, json={"password": password})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(guess, f"guess {number}")

    assert sorted(statuses) == [401] * 5 + [429] * 7


@pytest.mark.parametrize("variables", [{}, {"TRUST_PROXY": "true"}], ids=["not", "trusted"])
async def test_a_trusted_proxy_names_who_failed(house: House, variables: dict[str, str]) -> None:
    proxy = "10.9.8.7"
    one, two = [
        await house.browser(proxy, **{"x-forwarded-for": f"1.1.1.1, {client}"})
        for client in ("198.51.100.1", "198.51.100.2")
    ]

    await wrong(one, 5)

    await two.enter(PASSWORD, status=200 if variables else 429)


@pytest.mark.parametrize("variables", [{"TRUST_PROXY": "true"}])
async def test_nobody_escapes_by_a_forwarding_header_without_an_address(house: House) -> None:
    addresses = ["", "nonsense", "1.2.3.4, nonsense"]
    browsers = [await house.browser(REMOTE, **{"x-forwarded-for": each}) for each in addresses]

    for browser in browsers:
        await wrong(browser, 1)

    assert await wrong(await house.browser(REMOTE), 1) == [1]


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
    hashed = await house.desk.login.passwords.hash("stored canary")
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
    assert len(house.desk.login.lockout) == 0


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
