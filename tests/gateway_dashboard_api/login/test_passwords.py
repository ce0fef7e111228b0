"""The password that everybody knows, changing a password, and taking one away (S11)."""

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import login_gateway
import pytest
from login_gateway import LOGIN, PASSWORD, Browser, LoginGateway

from gateway_dashboard_api.login.password_hashes import AT_ONCE

pytestmark = pytest.mark.anyio
CHANGE = "/api/auth/change-password"
RESET = "/api/auth/reset-password"
SETTINGS = "/api/settings"
DEFAULT = "123456"
NEW = "second-canary-word"
REMOTE = "203.0.113.7"
FRESH = {"INITIAL_PASSWORD": ""}
on_a_fresh_gateway = pytest.mark.parametrize("variables", [FRESH])


async def proof_of(browser: Browser) -> str:
    reported = await browser.enter(DEFAULT, status=403)
    proof = reported["proof"]
    assert isinstance(proof, str)
    return proof


async def change(browser: Browser, proof: str, new: str = NEW, *, status: int = 200) -> Any:
    return await browser.call("POST", CHANGE, {"proof": proof, "newPassword": new}, status=status)


@pytest.mark.parametrize(
    ("variables", "known"),
    [(FRESH, DEFAULT), ({"INITIAL_PASSWORD": "Change-Me"}, "Change-Me")],
    ids=["built in", "placeholder"],
)
async def test_the_published_password_does_not_sign_in_from_elsewhere(
    server: LoginGateway, known: str
) -> None:
    browser = await server.browser(REMOTE)

    answer = await browser.post(LOGIN, json={"password": known})

    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert answer.json() == {"success": True, "mustChangePassword": True}
    assert (await browser.call("GET", "/api/auth/status"))["usingDefaultPassword"] is True


async def test_a_stored_hash_of_the_published_password_does_not_sign_in(
    server: LoginGateway,
) -> None:
    await server.store(password=await server.admin.login.passwords.hash(DEFAULT))
    browser = await server.browser()

    await change(browser, await proof_of(browser))

    assert await browser.is_in()


@on_a_fresh_gateway
async def test_on_this_machine_it_can_be_changed_and_that_signs_in(server: LoginGateway) -> None:
    browser = await server.browser()
    answer = await browser.post(LOGIN, json={"password": DEFAULT})
    reported = answer.json()
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert {k: v for k, v in reported.items() if k != "proof"} == {
        "success": True,
        "mustChangePassword": True,
        "requiresPasswordChange": True,
    }

    done = await change(browser, reported["proof"])

    assert done == {"success": True, "mustChangePassword": False}
    assert await browser.is_in()
    assert await server.audited() == ["password.change"]
    await (await server.browser(REMOTE)).enter(NEW)


@on_a_fresh_gateway
async def test_a_proof_works_once(server: LoginGateway) -> None:
    browser = await server.browser()
    proof = await proof_of(browser)
    await change(browser, proof)

    refused = await change(browser, proof, "third-canary-word", status=401)

    assert refused["remainingBeforeLock"] == 4
    await browser.enter(NEW)


@on_a_fresh_gateway
async def test_a_proof_is_for_its_address_only(server: LoginGateway) -> None:
    proof = await proof_of(await server.browser("127.0.0.1"))

    for host in ("127.0.0.2", REMOTE):
        await change(await server.browser(host), proof, status=401)
    forwarded = await server.browser("127.0.0.1", **{"x-forwarded-for": "127.0.0.1"})
    await change(forwarded, proof, status=401)

    await change(await server.browser("127.0.0.1"), proof)


@on_a_fresh_gateway
async def test_a_proof_lasts_five_minutes(server: LoginGateway) -> None:
    browser = await server.browser()
    proof = await proof_of(browser)

    server.pass_time(300)

    await change(browser, proof, status=401)


@on_a_fresh_gateway
async def test_a_proof_opens_nothing_while_the_settings_cannot_be_read(
    server: LoginGateway,
) -> None:
    await server.store(mfaEnabled=True)
    browser = await server.browser()
    proof = await proof_of(browser)

    await server.damage("data", '{"mfaEnabled": "perhaps"}')
    refused = await change(browser, proof, status=503)

    assert refused["code"] == "login_unreadable"
    assert not await browser.is_in()


@on_a_fresh_gateway
async def test_a_proof_serves_no_other_purpose(server: LoginGateway) -> None:
    browser = await server.browser()
    proof = await proof_of(browser)

    for name in ("auth_token", "mfa_pending"):
        browser.cookies.set(name, proof)
    browser.headers["x-gateway-cli-token"] = proof
    browser.headers["authorization"] = f"Bearer {proof}"

    assert not await browser.is_in()
    await browser.call("POST", "/api/auth/mfa/verify", {"code": "123456"}, status=401)
    await browser.call("POST", "/api/auth/mfa/setup", {"password": DEFAULT}, status=401)


@on_a_fresh_gateway
async def test_an_address_has_one_proof_at_a_time(server: LoginGateway) -> None:
    browser = await server.browser()
    first = await proof_of(browser)
    second = await proof_of(browser)

    await change(browser, first, status=401)

    await change(browser, second)


@on_a_fresh_gateway
async def test_a_proof_counts_at_every_worker_until_there_is_a_newer_one(
    server: LoginGateway, tmp_path: Path, variables: dict[str, str]
) -> None:
    async with login_gateway.opened(tmp_path, variables, shares_data=True) as worker:
        first = await proof_of(await server.browser())
        other = await worker.browser()
        second = await proof_of(other)

        await change(other, first, status=401)
        await change(await server.browser(), second)


@on_a_fresh_gateway
async def test_guessing_proofs_locks_out(server: LoginGateway) -> None:
    browser = await server.browser()
    for _ in range(5):
        await change(browser, "guess", status=401)

    await change(browser, "guess", status=429)
    await browser.enter(DEFAULT, status=429)


@on_a_fresh_gateway
@pytest.mark.parametrize(
    "new", ["", "short", DEFAULT, "CHANGE-me", " Your-Password ", "Replace_Me", "x" * 1025]
)
async def test_a_bad_choice_is_refused_and_may_be_corrected(server: LoginGateway, new: str) -> None:
    browser = await server.browser()
    proof = await proof_of(browser)

    await change(browser, proof, new, status=400)

    assert server.settings.password is None
    await change(browser, proof)


@on_a_fresh_gateway
async def test_a_password_set_meanwhile_is_not_overwritten(server: LoginGateway) -> None:
    browser = await server.browser()
    proof = await proof_of(browser)
    other = await server.admin.login.passwords.hash("another canary")
    await server.store(password=other)

    await change(browser, proof, status=409)

    assert server.settings.password == other


async def test_the_password_is_changed_with_the_settings(server: LoginGateway) -> None:
    browser, other = await server.browser(), await server.browser(REMOTE)
    await browser.enter(PASSWORD)
    await other.enter(PASSWORD)
    before = browser.cookies["auth_token"]

    shown = await browser.call(
        "PATCH",
        SETTINGS,
        {"newPassword": NEW, "currentPassword": PASSWORD, "cavemanEnabled": True},
    )

    assert (shown["hasPassword"], shown["cavemanEnabled"]) == (True, True)
    assert "canary" not in str(shown)
    assert browser.cookies["auth_token"] != before
    assert await browser.is_in()
    assert not await other.is_in()
    assert await server.audited() == ["password.change"]
    await other.enter(PASSWORD, status=401)
    await other.enter(NEW)


async def test_a_login_that_was_under_way_gives_no_session_of_the_new_password(
    server: LoginGateway,
) -> None:
    passwords, ready = server.admin.login.passwords, threading.Event()
    await server.store(password=await passwords.hash(PASSWORD), passwordSessionEpoch="old")
    browser = await server.browser()
    statuses: list[int] = []

    async def enter() -> None:
        answer = await browser.post(LOGIN, json={"password": PASSWORD})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(passwords.apart, ready.wait)
        group.start_soon(enter)
        while not len(server.admin.login.lockout):
            await anyio.lowlevel.checkpoint()
        await server.store(passwordSessionEpoch="new")
        ready.set()

    assert statuses == [409]
    assert not await browser.is_in()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"newPassword": NEW, "currentPassword": "wrong canary"}, 401),
        ({"newPassword": NEW}, 401),
        ({"newPassword": "", "currentPassword": PASSWORD}, 400),
        ({"newPassword": "short", "currentPassword": PASSWORD}, 400),
        ({"newPassword": DEFAULT, "currentPassword": PASSWORD}, 400),
        ({"newPassword": 1234567, "currentPassword": PASSWORD}, 400),
        ({"newPassword": NEW, "currentPassword": [PASSWORD]}, 400),
        ({"newPassword": NEW, "currentPassword": PASSWORD, "requireLogin": "no"}, 400),
    ],
)
async def test_a_change_that_is_refused_changes_nothing_at_all(
    server: LoginGateway, body: dict[str, Any], status: int
) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)

    await browser.call("PATCH", SETTINGS, {"cavemanEnabled": True, **body}, status=status)

    assert await server.core.stores.settings.document() == {}
    assert await server.audited() == []
    assert await browser.is_in()


async def test_wrong_current_passwords_lock_out_too(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    body = {"newPassword": NEW, "currentPassword": "wrong canary"}
    left = [
        (await browser.call("PATCH", SETTINGS, body, status=401))["remainingBeforeLock"]
        for _ in range(5)
    ]

    answer = await browser.patch(SETTINGS, json={**body, "currentPassword": PASSWORD})

    assert left == [4, 3, 2, 1, 0]
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")


async def test_of_two_changes_at_once_one_fails(server: LoginGateway) -> None:
    browser, other = await server.browser(), await server.browser()
    statuses: list[int] = []
    await browser.enter(PASSWORD)
    await other.enter(PASSWORD)

    async def patch(who: Browser, new: str) -> None:
        body = {"newPassword": new, "currentPassword": PASSWORD}
        statuses.append((await who.patch(SETTINGS, json=body)).status_code)

    async with anyio.create_task_group() as group:
        group.start_soon(patch, browser, NEW)
        group.start_soon(patch, other, "third-canary-word")

    assert sorted(statuses) == [200, 409]


async def test_a_change_that_cannot_be_audited_is_not_made(server: LoginGateway) -> None:
    browser = await server.browser()
    await browser.enter(PASSWORD)
    await server.core.stores.database.execute("DROP TABLE audit")

    body = {"newPassword": NEW, "currentPassword": PASSWORD}
    await browser.call("PATCH", SETTINGS, body, status=500)

    assert server.settings.password is None


async def test_the_command_line_removes_the_password_and_leaves_the_second_factor(
    server: LoginGateway,
) -> None:
    hashed = await server.admin.login.passwords.hash(NEW)
    await server.store(password=hashed, mfaEnabled=True, mfaSecret="JBSWY3DPEHPK3PXP")
    for _ in range(5):
        await server.admin.login.lockout.begin("127.0.0.1")
    operator = await server.command_line()

    await operator.call("POST", RESET)

    assert server.settings.password is None
    assert server.settings.password_session_epoch
    assert (server.settings.mfa_enabled, server.settings.mfa_secret) == (True, "JBSWY3DPEHPK3PXP")
    (row,) = await server.audit_rows()
    assert (row.action, row.actor) == ("password.reset", "cli")
    assert (await (await server.browser()).enter(PASSWORD))["mfaRequired"] is True


async def test_no_other_caller_removes_the_password(server: LoginGateway) -> None:
    hashed = await server.admin.login.passwords.hash(NEW)
    await server.store(password=hashed)
    remote = await server.browser(REMOTE)
    await remote.enter(NEW)

    for browser in (remote, await server.browser(REMOTE), await server.browser()):
        answer = await browser.post(RESET)
        assert answer.status_code in (401, 403)

    assert server.settings.password == hashed


@on_a_fresh_gateway
async def test_a_reset_is_no_way_around_the_second_factor(server: LoginGateway) -> None:
    await server.store(mfaEnabled=True, mfaSecret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    browser = await server.browser()

    done = await change(browser, await proof_of(browser))

    assert done == {"mfaRequired": True}
    assert not await browser.is_in()
    assert "mfa_pending" in browser.cookies


async def test_a_caller_without_a_session_gets_none_past_the_second_factor(
    server: LoginGateway,
) -> None:
    await server.store(mfaEnabled=True, mfaSecret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    operator = await server.command_line()

    body = {"newPassword": NEW, "currentPassword": PASSWORD}
    answer = await operator.patch(SETTINGS, json=body)

    assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
