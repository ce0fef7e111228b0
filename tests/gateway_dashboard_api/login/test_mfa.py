"""Signing in with the second factor: both kinds of codes, and what a half-way login is (S19)."""

from pathlib import Path

import anyio
import login_gateway
import pyotp
import pytest
from login_gateway import LOGIN, PASSWORD, Browser, LoginGateway
from second_factors import MFA, SECRET, code, enrolled, half_way, verify

pytestmark = pytest.mark.anyio
SETTINGS = "/api/settings"
REMOTE = "203.0.113.7"


async def test_secrets_and_codes_are_not_to_be_found(server: LoginGateway) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    browser = await half_way(server)
    await verify(browser, code(server))

    shown = await browser.get(SETTINGS)

    stored = await server.core.stores.database.fetch("SELECT data, secrets FROM settings")
    for text in (shown.text, str(stored)):
        assert SECRET not in text
        assert "abcdefghijkm" not in text.replace("-", "")
    assert shown.json()["mfaBackupCodesRemaining"] == 1
    assert "mfaLastStep" not in shown.json()


async def test_the_last_step_cannot_be_patched(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    await verify(browser, code(server))
    before = server.settings.mfa_last_step

    await browser.call("PATCH", SETTINGS, {"mfaLastStep": 1, "mfaEnabled": False})

    assert server.settings.mfa_last_step == before
    assert server.settings.mfa_enabled


async def test_a_code_is_good_once(server: LoginGateway) -> None:
    await enrolled(server)
    await verify(await half_way(server), code(server, drift=-1))
    await verify(await half_way(server), code(server))

    for drift in (0, -1):
        await verify(await half_way(server), code(server, drift=drift), status=401)
    await verify(await half_way(server), code(server, drift=1))


async def test_the_second_step_may_reach_another_worker_and_counts_once(
    server: LoginGateway, tmp_path: Path, variables: dict[str, str]
) -> None:
    await enrolled(server)
    browser = await half_way(server)
    ticket = browser.cookies["mfa_pending"]
    async with login_gateway.opened(tmp_path, variables, shares_data=True) as worker:
        other = await worker.browser()
        other.cookies.set("mfa_pending", ticket)

        assert await verify(other, code(server)) == {"success": True}

        assert await other.is_in()
    await verify(browser, code(server, drift=1), status=401)


async def test_signing_out_ends_a_pending_login(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    ticket = browser.cookies["mfa_pending"]
    await browser.call("POST", "/api/auth/logout")
    browser.cookies.set("mfa_pending", ticket)

    refused = await verify(browser, code(server), status=401)

    assert refused["code"] == "mfa_not_pending"


async def test_the_code_of_the_enrolment_does_not_sign_in(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    body = {"password": PASSWORD, "secret": SECRET, "code": code(server)}
    await browser.call("POST", f"{MFA}/enable", body)

    await verify(await half_way(server), code(server), status=401)


async def test_of_two_parallel_uses_of_a_backup_code_one_fails(server: LoginGateway) -> None:
    await enrolled(server, ["abcd-efgh-ijkm", "bcde-fghi-jkmn"])
    browsers = [await half_way(server) for _ in range(4)]
    statuses: list[int] = []

    async def use(browser: Browser) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": "abcd-efgh-ijkm"})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for browser in browsers:
            group.start_soon(use, browser)

    assert sorted(statuses) == [200, 401, 401, 401]
    assert len(server.settings.mfa_backup_codes) == 1
    assert server.settings.mfa_enabled


async def test_of_two_parallel_uses_of_one_pending_login_one_fails(server: LoginGateway) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    browser = await half_way(server)
    statuses: list[int] = []

    async def use(text: str) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": text})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        group.start_soon(use, "abcd-efgh-ijkm")
        group.start_soon(use, code(server))

    assert sorted(statuses) == [200, 401]


async def test_a_pending_login_is_no_session(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    ticket = browser.cookies["mfa_pending"]
    browser.cookies.set("auth_token", ticket)

    assert not await browser.is_in()
    assert (await browser.call("GET", "/api/auth/status"))["authenticated"] is False
    for path in ("setup", "enable", "disable"):
        body = {"password": PASSWORD, "code": code(server), "secret": SECRET}
        await browser.call("POST", f"{MFA}/{path}", body, status=401)
    await browser.call(
        "POST",
        "/api/auth/change-password",
        status=401,
        body={"proof": ticket, "newPassword": "long enough"},
    )


async def test_the_pending_cookie_is_short_lived_and_out_of_reach(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await server.browser()

    (line,) = (await browser.post(LOGIN, json={"password": PASSWORD})).headers.get_list(
        "set-cookie"
    )

    parts = [part.lower() for part in line.split("; ")]
    assert {"httponly", "samesite=lax", "path=/", "max-age=300"} <= set(parts)
    assert not any(part.startswith("domain") for part in parts)
    assert len(browser.cookies["mfa_pending"]) >= 22


async def test_a_pending_login_lasts_five_minutes(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)

    server.pass_time(300)

    await verify(browser, code(server), status=401)


async def test_a_pending_login_completes_once(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    ticket = browser.cookies["mfa_pending"]
    await verify(browser, code(server))
    thief = await server.browser()
    thief.cookies.set("mfa_pending", ticket)

    refused = await verify(thief, code(server, drift=1), status=401)

    assert refused["code"] == "mfa_not_pending"
    assert "mfa_pending" not in browser.cookies


async def test_a_typing_mistake_may_be_corrected(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)

    refused = await verify(browser, "000000", status=401)

    assert (refused["error"], refused["remainingBeforeLock"]) == ("Invalid code", 4)
    await verify(browser, code(server))


async def test_a_new_password_ends_pending_logins(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    hashed = await server.admin.login.passwords.hash("second-canary-word")
    await server.store(password=hashed, passwordSessionEpoch="new")

    await verify(browser, code(server), status=401)


async def test_knowing_the_password_does_not_reset_the_guesses_at_the_code(
    server: LoginGateway,
) -> None:
    await enrolled(server)
    left = []
    for _ in range(5):
        browser = await half_way(server, REMOTE)
        left.append((await verify(browser, "000000", status=401))["remainingBeforeLock"])

    answer = await browser.post(f"{MFA}/verify", json={"code": code(server)})

    assert left == [4, 3, 2, 1, 0]
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    await (await server.browser(REMOTE)).enter(PASSWORD, status=429)


@pytest.mark.parametrize("text", ["", "12345", "a" * 12, "x" * 1000, "１２３４５６"])
async def test_rubbish_is_no_code(server: LoginGateway, text: str) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    browser = await half_way(server)

    answer = await browser.post(f"{MFA}/verify", json={"code": text})

    assert answer.status_code in (400, 401)
    assert not await browser.is_in()


async def test_a_secret_that_cannot_be_opened_leaves_the_backup_codes(server: LoginGateway) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    await server.damage("secrets", '{"mfaSecret": "v1.broken"}')
    browser = await half_way(server)

    await verify(browser, code(server), status=401)
    await verify(browser, pyotp.TOTP("A" * 32).generate_otp(0), status=401)

    await verify(browser, "abcd-efgh-ijkm")


async def test_of_two_parallel_uses_of_an_apps_code_one_fails(server: LoginGateway) -> None:
    await enrolled(server)
    browsers = [await half_way(server) for _ in range(3)]
    statuses: list[int] = []

    async def use(browser: Browser) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": code(server)})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for browser in browsers:
            group.start_soon(use, browser)

    assert sorted(statuses) == [200, 401, 401]


async def test_unreadable_settings_complete_no_pending_login(
    server: LoginGateway,
) -> None:
    await enrolled(server)
    browser = await half_way(server)

    await server.damage("data", '{"mfaEnabled": true, "mfaLastStep": "later"}')

    assert (await verify(browser, code(server), status=503))["code"] == "login_unreadable"


async def test_a_closed_tunnel_completes_no_pending_login(server: LoginGateway) -> None:
    await enrolled(server)
    await server.store(tunnelUrl="https://mine.tunnel.example", tunnelDashboardAccess=True)
    tunnel = await server.browser(base="https://mine.tunnel.example")
    await tunnel.enter(PASSWORD)

    await server.store(tunnelDashboardAccess=False)

    assert (await verify(tunnel, code(server), status=403))["code"] == "tunnel_closed"
