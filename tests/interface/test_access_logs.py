"""No input of a caller breaks a log line, and no secret of theirs is in one (S33)."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import SECRET
from unnormalized_requests import call_app

pytestmark = pytest.mark.anyio
NASTY = ("a\r\nERROR forged", "\x1b[31mred", "b" * 65536, "c\x00d", "e\u2028f")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {"JWT_SECRET": SECRET}) as here:
        yield here


def check(records: list[logging.LogRecord]) -> None:
    for record in records:
        text = record.getMessage()
        assert text.isprintable(), text[:200]
        assert len(text) < 2000
        assert "forged" not in text
        assert "canary" not in text


async def test_nothing_a_caller_sends_breaks_a_log_line(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture
) -> None:
    await admin.connect()
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        for nasty in NASTY:
            await admin.chat(nasty)
            await admin.chat(f"acme/{nasty}")
            await admin.client.patch("/api/settings", json={"comboStrategy": nasty})
            await admin.client.post("/api/combos", json={"name": nasty, "models": [nasty]})

    check(caplog.records)


async def test_no_target_or_header_breaks_a_log_line(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture
) -> None:
    token = dict(admin.client.headers)
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        for nasty in NASTY:
            safe = nasty.encode().hex("%")
            for path in (f"/v1/models/%{safe}", f"/api/combos/%{safe}", f"/%{safe}"):
                await call_app(admin.gateway.app, path, headers=token)
            agent = {"user-agent": nasty.encode("ascii", "replace").decode(), "x-request-id": "x"}
            await call_app(admin.gateway.app, "/v1/models", headers={**token, **agent})

    check(caplog.records)


async def test_no_credential_of_a_caller_is_logged(
    admin: AdminGateway, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "sk-canary00"
    with caplog.at_level(logging.DEBUG):
        for headers in (
            {"authorization": f"Bearer {secret}"},
            {"x-api-key": secret},
            {"cookie": f"auth_token={secret}"},
            {"x-gateway-cli-token": secret},
        ):
            for path in ("/v1/models", "/api/settings", f"/v1/models?key={secret}"):
                await call_app(admin.gateway.app, path, client="192.0.2.7", headers=headers)

    check(caplog.records)
