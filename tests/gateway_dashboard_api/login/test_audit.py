"""Sign-ins, refusals and lockouts: rows of the audit trail, and lines that a program can read."""

import re

import pytest
from login_gateway import PASSWORD, LoginGateway

pytestmark = pytest.mark.anyio
REMOTE = "203.0.113.7"
FAIL2BAN = re.compile(
    r"a sign-in was refused: wrong credential from (?P<wrong>\S+)$"
    r"|a sign-in was refused: (?P<locked>\S+) is locked out$"
    r"|a request was refused: invalid API key from (?P<key>\S+)$"
)
"""The filter of docs/login.md, with a group for each kind."""


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str | None, str | None]]:
    found = [FAIL2BAN.search(record.getMessage()) for record in caplog.records]
    return [(match.lastgroup, match[match.lastgroup or 0]) for match in found if match]


async def test_signing_in_and_out_leaves_rows(server: LoginGateway) -> None:
    browser = await server.browser(REMOTE)

    await browser.enter(PASSWORD)
    await browser.call("POST", "/api/auth/logout")

    start, end = await server.sign_ins()
    assert (start.action, start.actor, start.address) == ("session.start", "anonymous", REMOTE)
    assert start.detail == {"method": "password"}
    assert (end.action, end.actor, end.address) == ("session.end", "session:password", REMOTE)


async def test_a_wrong_password_and_the_lockout_leave_rows_and_lines(
    server: LoginGateway, caplog: pytest.LogCaptureFixture
) -> None:
    browser = await server.browser(REMOTE)

    for _ in range(5):
        await browser.enter("wrong canary", status=401)
    for _ in range(3):
        await browser.enter(PASSWORD, status=429)

    rows = await server.sign_ins()
    assert [row.action for row in rows] == ["session.refuse"] * 5 + ["session.lockout"]
    assert {row.address for row in rows} == {REMOTE}
    assert rows[-1].target == REMOTE
    assert "canary" not in str(rows)
    assert lines(caplog) == [
        *[("wrong", REMOTE)] * 5,
        *[("locked", REMOTE)] * 4,
    ]


async def test_a_session_that_cannot_be_noted_does_not_begin(server: LoginGateway) -> None:
    await server.core.stores.database.execute("ALTER TABLE audit RENAME TO elsewhere")
    browser = await server.browser()

    await browser.enter(PASSWORD, status=500)

    assert not await browser.is_in()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/api/keys"])
async def test_a_bad_key_leaves_a_line(
    server: LoginGateway, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    caller = await server.browser(REMOTE)
    method = "POST" if path.startswith("/v1/chat") else "GET"

    await caller.call(method, path, status=401, headers={"x-api-key": "sk-canary-wrong"})
    await caller.call(method, path, status=401)

    assert lines(caplog) == [("key", REMOTE)]
    assert "canary" not in caplog.text
