"""Switching the second factor on and off, and taking a lost one away."""

from pathlib import Path

import login_gateway
import pytest
from login_gateway import PASSWORD, LoginGateway
from second_factors import MFA, SECRET, code, enrolled, half_way, verify

from gateway_dashboard_api.login.second_factor import Factor, consume
from gateway_dashboard_api.login.sign_in import WrongCredential

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"


async def test_enrolling_and_signing_in_with_it(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    prepared = await browser.call("POST", f"{MFA}/setup", {"password": PASSWORD})
    secret = prepared["secret"]
    assert f"secret={secret}&" in prepared["otpauthUri"]
    assert prepared["qrCode"].startswith("data:image/svg+xml")
    assert not server.settings.mfa_enabled

    body = {"password": PASSWORD, "secret": secret, "code": code(server, secret=secret)}
    done = await browser.call("POST", f"{MFA}/enable", body)

    assert done["success"] is True
    assert len(set(done["backupCodes"])) == 10
    assert await server.audited() == ["mfa.enable"]
    server.pass_time(30)
    other = await half_way(server)
    assert await verify(other, code(server, secret=secret)) == {"success": True}
    assert await other.is_in()
    third = await half_way(server)
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
    server: LoginGateway, change: dict[str, str], status: int
) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    body = {"password": PASSWORD, "secret": SECRET, "code": code(server), **change}

    await browser.call("POST", f"{MFA}/enable", body, status=status)

    assert await server.core.stores.settings.document() == {}
    assert await server.audited() == []


async def test_it_is_switched_on_once(server: LoginGateway) -> None:
    await enrolled(server)
    browser = await half_way(server)
    await verify(browser, code(server))
    body = {"password": PASSWORD, "secret": SECRET[::-1].replace("8", "A"), "code": code(server)}

    await browser.call("POST", f"{MFA}/setup", {"password": PASSWORD}, status=409)
    await browser.call("POST", f"{MFA}/enable", body, status=409)

    assert server.settings.mfa_secret == SECRET


async def test_of_two_workers_one_switches_it_on(
    server: LoginGateway, tmp_path: Path, variables: dict[str, str]
) -> None:
    async with login_gateway.opened(tmp_path, variables, shares_data=True) as worker:
        one, other = await server.browser(), await worker.browser()
        for browser in (one, other):
            await browser.enter(PASSWORD)
        mine = "MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U"
        second = {"password": PASSWORD, "secret": mine, "code": code(server, secret=mine)}
        await one.call(
            "POST", f"{MFA}/enable", {"password": PASSWORD, "secret": SECRET, "code": code(server)}
        )
        assert not worker.settings.mfa_enabled

        await other.call("POST", f"{MFA}/enable", second, status=409)

    await server.core.refresh()
    assert server.settings.mfa_secret == SECRET


async def test_switching_it_off_requires_the_password_and_a_current_code(
    server: LoginGateway,
) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    browser = await half_way(server)
    used = code(server)
    await verify(browser, used)

    for body in (
        {"password": "wrong canary", "code": code(server, drift=1)},
        {"password": PASSWORD, "code": used},
        {"password": PASSWORD, "code": "nope"},
    ):
        await browser.call("POST", f"{MFA}/disable", body, status=401)
    assert server.settings.mfa_enabled
    assert await server.audited() == []

    body = {"password": PASSWORD, "code": "abcd-efgh-ijkm"}
    assert await browser.call("POST", f"{MFA}/disable", body) == {"success": True}

    assert await server.core.stores.settings.document() == {"mfaEnabled": False}
    assert await server.audited() == ["mfa.disable"]
    await browser.call("POST", f"{MFA}/disable", body, status=409)
    assert (await (await server.browser()).enter(PASSWORD))["success"] is True


async def test_the_command_line_takes_a_lost_factor_away_without_a_code(
    server: LoginGateway,
) -> None:
    await enrolled(server, ["abcd-efgh-ijkm"])
    waiting = await half_way(server, REMOTE)
    for _ in range(5):
        await verify(waiting, "000000", status=401)

    answer = await (await server.command_line()).call("POST", f"{MFA}/reset")

    assert answer == {"success": True}
    assert await server.core.stores.settings.document() == {"mfaEnabled": False}
    assert await server.audited() == ["mfa.reset"]
    await verify(waiting, code(server), status=401)
    assert (await waiting.enter(PASSWORD))["success"] is True


async def test_no_other_caller_resets_the_factor_without_a_code(server: LoginGateway) -> None:
    await enrolled(server)
    signed_in = await half_way(server)
    await verify(signed_in, code(server))
    away = await half_way(server, REMOTE)
    await server.store(requireLogin=False)

    for browser in (signed_in, await server.browser(), away):
        await browser.call("POST", f"{MFA}/reset", status=403)

    assert server.settings.mfa_enabled
    assert await server.audited() == []


async def test_only_who_has_signed_in_may_enrol(server: LoginGateway) -> None:
    await server.store(requireLogin=False)
    here, operator = await server.browser(), await server.command_line()

    for browser in (here, operator):
        await browser.call("POST", f"{MFA}/setup", {"password": PASSWORD}, status=401)


async def test_nothing_is_spent_on_what_was_switched_off_meanwhile(server: LoginGateway) -> None:
    attempt = await server.admin.login.lockout.begin(REMOTE)

    with pytest.raises(WrongCredential):
        await consume(server.admin, attempt, Factor(step=1))

    assert await server.core.stores.settings.document() == {}
