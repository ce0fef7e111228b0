"""Switching the second factor on and off, and taking a lost one away."""

from pathlib import Path

import front_door
import pytest
from front_door import PASSWORD, House
from second_factors import MFA, SECRET, code, enrolled, half_way, verify

from gateway_dashboard_api.login.second_factor import Factor, consume
from gateway_dashboard_api.login.sign_in import WrongCredential

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"


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


async def test_of_two_workers_one_switches_it_on(
    house: House, tmp_path: Path, variables: dict[str, str]
) -> None:
    async with front_door.opened(tmp_path, variables, shares_data=True) as worker:
        one, other = await house.browser(), await worker.browser()
        for browser in (one, other):
            await browser.enter(PASSWORD)
        mine = "MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U"
        second = {"password": PASSWORD, "secret": mine, "code": code(house, secret=mine)}
        await one.ask(
            "POST", f"{MFA}/enable", {"password": PASSWORD, "secret": SECRET, "code": code(house)}
        )
        assert not worker.settings.mfa_enabled

        await other.ask("POST", f"{MFA}/enable", second, status=409)

    await house.core.refresh()
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


async def test_only_who_has_signed_in_may_enrol(house: House) -> None:
    await house.store(requireLogin=False)
    here, operator = await house.browser(), await house.command_line()

    for browser in (here, operator):
        await browser.ask("POST", f"{MFA}/setup", {"password": PASSWORD}, status=401)


async def test_nothing_is_spent_on_what_was_switched_off_meanwhile(house: House) -> None:
    attempt = await house.admin.login.lockout.begin(REMOTE)

    with pytest.raises(WrongCredential):
        await consume(house.admin, attempt, Factor(step=1))

    assert await house.core.stores.settings.document() == {}
