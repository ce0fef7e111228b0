"""The second factor: enrolment, both kinds of codes, and what a half-way login is (S19)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import front_door
import pyotp
import pytest
from front_door import LOGIN, PASSWORD, Browser, House

from gateway_dashboard_api.login import WrongCredential
from gateway_dashboard_api.second_factor import Factor, spend

pytestmark = pytest.mark.anyio
MFA = "/api/auth/mfa"
SETTINGS = "/api/settings"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
REMOTE = "203.0.113.7"


def code(house: House, drift: int = 0, secret: str = SECRET) -> str:
    """What the app shows."""
    return pyotp.TOTP(secret).generate_otp(int(house.wall.now // 30) + drift)


async def enrolled(house: House, codes: Sequence[str] = ()) -> None:
    """Switch it on without the ceremony."""
    import bcrypt

    hashes = [
        bcrypt.hashpw(text.replace("-", "").encode(), bcrypt.gensalt(4)).decode() for text in codes
    ]
    await house.store(mfaEnabled=True, mfaSecret=SECRET, mfaBackupCodes=hashes)


async def half_way(house: House, host: str = "127.0.0.1") -> Browser:
    browser = await house.browser(host)
    assert await browser.enter(PASSWORD) == {"mfaRequired": True}
    return browser


async def verify(browser: Browser, text: str, *, status: int = 200) -> Any:
    return await browser.ask("POST", f"{MFA}/verify", {"code": text}, status=status)


async def test_enrolling_and_signing_in_with_it(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    prepared = await browser.ask("POST", f"{MFA}/setup", {"password": PASSWORD})
    secret = prepared["secret"]
    assert f"secret={secret}&" in prepared["otpauthUri"]
    assert prepared["qrCode"].startswith("data:image/svg+xml")
    assert not house.settings.mfa_enabled

    body = {"password": PASSWORD, "secret": secret, "code": code(house, secret=secret)}
    done = await browser.ask("POST", f"{MFA}/enable", body)

    assert done["success"] is True
    assert len(set(done["backupCodes"])) == 10
    assert await house.audited() == ["mfa.enable"]
    house.pass_time(30)
    other = await half_way(house)
    assert await verify(other, code(house, secret=secret)) == {"success": True}
    assert await other.is_in()
    third = await half_way(house)
    used = await verify(third, done["backupCodes"][7])
    assert used == {"success": True, "backupCodesRemaining": 9}


async def test_secrets_and_codes_are_not_to_be_found(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    browser = await half_way(house)
    await verify(browser, code(house))

    shown = await browser.get(SETTINGS)

    stored = await house.core.stores.database.fetch("SELECT data, secrets FROM settings")
    for text in (shown.text, str(stored)):
        assert SECRET not in text
        assert "abcdefghijkm" not in text.replace("-", "")
    assert shown.json()["mfaBackupCodesRemaining"] == 1
    assert "mfaLastStep" not in shown.json()


async def test_the_last_step_cannot_be_patched(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    await verify(browser, code(house))
    before = house.settings.mfa_last_step

    await browser.ask("PATCH", SETTINGS, {"mfaLastStep": 1, "mfaEnabled": False})

    assert house.settings.mfa_last_step == before
    assert house.settings.mfa_enabled


async def test_a_code_is_good_once(house: House) -> None:
    await enrolled(house)
    await verify(await half_way(house), code(house, drift=-1))
    await verify(await half_way(house), code(house))

    for drift in (0, -1):
        await verify(await half_way(house), code(house, drift=drift), status=401)
    await verify(await half_way(house), code(house, drift=1))


async def test_the_second_step_may_reach_another_worker_and_counts_once(
    house: House, tmp_path: Path, variables: dict[str, str]
) -> None:
    await enrolled(house)
    browser = await half_way(house)
    ticket = browser.cookies["mfa_pending"]
    async with front_door.opened(tmp_path, variables, shares_data=True) as worker:
        other = await worker.browser()
        other.cookies.set("mfa_pending", ticket)

        assert await verify(other, code(house)) == {"success": True}

        assert await other.is_in()
    await verify(browser, code(house, drift=1), status=401)


async def test_signing_out_half_way_ends_the_login(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    ticket = browser.cookies["mfa_pending"]
    await browser.ask("POST", "/api/auth/logout")
    browser.cookies.set("mfa_pending", ticket)

    refused = await verify(browser, code(house), status=401)

    assert refused["code"] == "mfa_not_pending"


async def test_the_code_of_the_enrolment_signs_nobody_in(house: House) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    body = {"password": PASSWORD, "secret": SECRET, "code": code(house)}
    await browser.ask("POST", f"{MFA}/enable", body)

    await verify(await half_way(house), code(house), status=401)


async def test_of_two_parallel_uses_of_a_backup_code_one_fails(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm", "bcde-fghi-jkmn"])
    browsers = [await half_way(house) for _ in range(4)]
    statuses: list[int] = []

    async def use(browser: Browser) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": "abcd-efgh-ijkm"})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for browser in browsers:
            group.start_soon(use, browser)

    assert sorted(statuses) == [200, 401, 401, 401]
    assert len(house.settings.mfa_backup_codes) == 1
    assert house.settings.mfa_enabled


async def test_of_two_parallel_uses_of_one_pending_login_one_fails(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    browser = await half_way(house)
    statuses: list[int] = []

    async def use(text: str) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": text})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        group.start_soon(use, "abcd-efgh-ijkm")
        group.start_soon(use, code(house))

    assert sorted(statuses) == [200, 401]


async def test_half_way_in_is_not_in(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    ticket = browser.cookies["mfa_pending"]
    browser.cookies.set("auth_token", ticket)

    assert not await browser.is_in()
    assert (await browser.ask("GET", "/api/auth/status"))["authenticated"] is False
    for path in ("setup", "enable", "disable"):
        body = {"password": PASSWORD, "code": code(house), "secret": SECRET}
        await browser.ask("POST", f"{MFA}/{path}", body, status=401)
    await browser.ask(
        "POST",
        "/api/auth/change-password",
        status=401,
        body={"proof": ticket, "newPassword": "long enough"},
    )


async def test_the_pending_cookie_is_short_lived_and_out_of_reach(house: House) -> None:
    await enrolled(house)
    browser = await house.browser()

    (line,) = (await browser.post(LOGIN, json={"password": PASSWORD})).headers.get_list(
        "set-cookie"
    )

    parts = [part.lower() for part in line.split("; ")]
    assert {"httponly", "samesite=lax", "path=/", "max-age=300"} <= set(parts)
    assert not any(part.startswith("domain") for part in parts)
    assert len(browser.cookies["mfa_pending"]) >= 22


async def test_half_way_lasts_five_minutes(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)

    house.pass_time(300)

    await verify(browser, code(house), status=401)


async def test_half_way_leads_in_once(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    ticket = browser.cookies["mfa_pending"]
    await verify(browser, code(house))
    thief = await house.browser()
    thief.cookies.set("mfa_pending", ticket)

    refused = await verify(thief, code(house, drift=1), status=401)

    assert refused["code"] == "mfa_not_pending"
    assert "mfa_pending" not in browser.cookies


async def test_a_typing_mistake_may_be_corrected(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)

    refused = await verify(browser, "000000", status=401)

    assert (refused["error"], refused["remainingBeforeLock"]) == ("Invalid code", 4)
    await verify(browser, code(house))


async def test_a_new_password_ends_what_is_half_way(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    hashed = await house.desk.login.passwords.hash("second-canary-word")
    await house.store(password=hashed, passwordSessionEpoch="new")

    await verify(browser, code(house), status=401)


async def test_knowing_the_password_does_not_reset_the_guesses_at_the_code(house: House) -> None:
    await enrolled(house)
    left = []
    for _ in range(5):
        browser = await half_way(house, REMOTE)
        left.append((await verify(browser, "000000", status=401))["remainingBeforeLock"])

    answer = await browser.post(f"{MFA}/verify", json={"code": code(house)})

    assert left == [4, 3, 2, 1, 0]
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    await (await house.browser(REMOTE)).enter(PASSWORD, status=429)


@pytest.mark.parametrize("text", ["", "12345", "a" * 12, "x" * 1000, "１２３４５６"])
async def test_rubbish_is_no_code(house: House, text: str) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    browser = await half_way(house)

    answer = await browser.post(f"{MFA}/verify", json={"code": text})

    assert answer.status_code in (400, 401)
    assert not await browser.is_in()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"password": "wrong canary"}, 401),
        ({"code": "000000"}, 401),
        ({"code": "abcd-efgh-ijkm"}, 401),
        ({"secret": ""}, 400),
        ({"secret": "SHORT"}, 400),
    ],
)
async def test_an_enrolment_that_is_refused_stores_nothing(
    house: House, change: dict[str, str], status: int
) -> None:
    browser = await house.browser()
    await browser.enter(PASSWORD)
    body = {"password": PASSWORD, "secret": SECRET, "code": code(house), **change}

    await browser.ask("POST", f"{MFA}/enable", body, status=status)

    assert await house.core.stores.settings.document() == {}
    assert await house.audited() == []


async def test_it_is_switched_on_once(house: House) -> None:
    await enrolled(house)
    browser = await half_way(house)
    await verify(browser, code(house))
    body = {"password": PASSWORD, "secret": SECRET[::-1].replace("8", "A"), "code": code(house)}

    await browser.ask("POST", f"{MFA}/setup", {"password": PASSWORD}, status=409)
    await browser.ask("POST", f"{MFA}/enable", body, status=409)

    assert house.settings.mfa_secret == SECRET


async def test_switching_it_off_wants_the_password_and_a_live_code(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    browser = await half_way(house)
    used = code(house)
    await verify(browser, used)

    for body in (
        {"password": "wrong canary", "code": code(house, drift=1)},
        {"password": PASSWORD, "code": used},
        {"password": PASSWORD, "code": "nope"},
    ):
        await browser.ask("POST", f"{MFA}/disable", body, status=401)
    assert house.settings.mfa_enabled
    assert await house.audited() == []

    body = {"password": PASSWORD, "code": "abcd-efgh-ijkm"}
    assert await browser.ask("POST", f"{MFA}/disable", body) == {"success": True}

    assert await house.core.stores.settings.document() == {"mfaEnabled": False}
    assert await house.audited() == ["mfa.disable"]
    await browser.ask("POST", f"{MFA}/disable", body, status=409)
    assert (await (await house.browser()).enter(PASSWORD))["success"] is True


async def test_the_command_line_takes_a_lost_factor_away_without_a_code(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    waiting = await half_way(house, REMOTE)
    for _ in range(5):
        await verify(waiting, "000000", status=401)

    answer = await (await house.command_line()).ask("POST", f"{MFA}/reset")

    assert answer == {"success": True}
    assert await house.core.stores.settings.document() == {"mfaEnabled": False}
    assert await house.audited() == ["mfa.reset"]
    await verify(waiting, code(house), status=401)
    assert (await waiting.enter(PASSWORD))["success"] is True


async def test_nobody_else_takes_the_factor_away_without_a_code(house: House) -> None:
    await enrolled(house)
    signed_in = await half_way(house)
    await verify(signed_in, code(house))
    away = await half_way(house, REMOTE)
    await house.store(requireLogin=False)

    for browser in (signed_in, await house.browser(), away):
        await browser.ask("POST", f"{MFA}/reset", status=403)

    assert house.settings.mfa_enabled
    assert await house.audited() == []


async def test_a_secret_that_cannot_be_opened_leaves_the_backup_codes(house: House) -> None:
    await enrolled(house, ["abcd-efgh-ijkm"])
    await house.damage("secrets", '{"mfaSecret": "v1.broken"}')
    browser = await half_way(house)

    await verify(browser, code(house), status=401)
    await verify(browser, pyotp.TOTP("A" * 32).generate_otp(0), status=401)

    await verify(browser, "abcd-efgh-ijkm")


async def test_only_who_has_signed_in_may_enrol(house: House) -> None:
    await house.store(requireLogin=False)
    here, operator = await house.browser(), await house.command_line()

    for browser in (here, operator):
        await browser.ask("POST", f"{MFA}/setup", {"password": PASSWORD}, status=401)


async def test_of_two_parallel_uses_of_an_apps_code_one_fails(house: House) -> None:
    await enrolled(house)
    browsers = [await half_way(house) for _ in range(3)]
    statuses: list[int] = []

    async def use(browser: Browser) -> None:
        answer = await browser.post(f"{MFA}/verify", json={"code": code(house)})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for browser in browsers:
            group.start_soon(use, browser)

    assert sorted(statuses) == [200, 401, 401]


async def test_nothing_is_spent_on_what_was_switched_off_meanwhile(house: House) -> None:
    attempt = await house.desk.login.lockout.begin(REMOTE)

    with pytest.raises(WrongCredential):
        await spend(house.desk, attempt, Factor(step=1))

    assert await house.core.stores.settings.document() == {}
