"""Wrong passwords: who is locked out, and for how long (S18, S38)."""

import anyio
import pytest
from cookies import cookie_of
from login_gateway import LOGIN, PASSWORD, Browser, LoginGateway

from gateway_dashboard_api.login.lockout import HINT

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"


async def wrong(browser: Browser, times: int) -> list[int]:
    """What is said to be left after each of several wrong passwords."""
    written = [await browser.enter("wrong canary", status=401) for _ in range(times)]
    return [each["remainingBeforeLock"] for each in written]


async def test_five_failures_lock_the_address_out(server: LoginGateway) -> None:
    browser, other = await server.browser(REMOTE), await server.browser("203.0.113.8")
    assert await wrong(browser, 5) == [4, 3, 2, 1, 0]

    answer = await browser.post(LOGIN, json={"password": PASSWORD})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    body = answer.json()
    assert (body["retryAfter"], body["resetHint"]) == (30, HINT)
    assert cookie_of(answer) == {}
    await other.enter(PASSWORD)


async def test_the_second_lock_is_longer_and_a_quiet_hour_forgets(server: LoginGateway) -> None:
    browser = await server.browser(REMOTE)
    waits = []
    for pause in (30, 3600, 0):
        await wrong(browser, 5)
        waits.append((await browser.enter(PASSWORD, status=429))["retryAfter"])
        server.pass_time(pause)

    assert waits == [30, 120, 30]


async def test_being_right_forgets_what_was_wrong(server: LoginGateway) -> None:
    browser = await server.browser(REMOTE)
    await wrong(browser, 4)

    await browser.enter(PASSWORD)

    assert await wrong(browser, 1) == [4]


@pytest.mark.parametrize("step", [-3600, 24 * 3600])
async def test_the_wall_clock_neither_locks_nor_unlocks(server: LoginGateway, step: float) -> None:
    browser = await server.browser(REMOTE)
    await wrong(browser, 5)
    server.monotonic.now += 10

    server.wall.now += step

    assert (await browser.enter(PASSWORD, status=429))["retryAfter"] == 20
    server.monotonic.now += 20
    await browser.enter(PASSWORD)


async def test_guesses_made_together_do_not_pass_together(server: LoginGateway) -> None:
    browser = await server.browser(REMOTE)
    statuses: list[int] = []

    async def guess(password: str) -> None:
        answer = await browser.post(LOGIN, json={"password": password})
        statuses.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(guess, f"guess {number}")

    assert sorted(statuses) == [401] * 5 + [429] * 7


@pytest.mark.parametrize("variables", [{}, {"TRUST_PROXY": "true"}], ids=["not", "trusted"])
async def test_a_trusted_proxy_names_who_failed(
    server: LoginGateway, variables: dict[str, str]
) -> None:
    proxy = "10.9.8.7"
    one, two = [
        await server.browser(proxy, **{"x-forwarded-for": f"1.1.1.1, {client}"})
        for client in ("198.51.100.1", "198.51.100.2")
    ]

    await wrong(one, 5)

    await two.enter(PASSWORD, status=200 if variables else 429)


@pytest.mark.parametrize("variables", [{"TRUST_PROXY": "true"}])
async def test_a_forwarding_header_without_an_address_does_not_evade_the_lockout(
    server: LoginGateway,
) -> None:
    addresses = ["", "nonsense", "1.2.3.4, nonsense"]
    browsers = [await server.browser(REMOTE, **{"x-forwarded-for": each}) for each in addresses]

    for browser in browsers:
        await wrong(browser, 1)

    assert await wrong(await server.browser(REMOTE), 1) == [1]
