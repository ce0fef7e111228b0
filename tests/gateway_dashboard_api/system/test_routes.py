"""The gateway as a program: probes that need no credential, and its end."""

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
from admin_gateway import AdminGateway
from caller_kinds import SECRET, with_key, with_session, without_credentials
from own_stores import own_stores

from gateway_administration.stores.audit import AuditFilter

pytestmark = pytest.mark.anyio
STOP = {"authorization": "Bearer stop-canary"}
SHUTDOWN = "/api/shutdown"


@pytest.fixture
def variables() -> dict[str, str]:
    return {"SHUTDOWN_SECRET": "stop-canary", "JWT_SECRET": SECRET}


@pytest.fixture
async def stopped() -> AsyncIterator[asyncio.Event]:
    """Set when the process is asked to stop, in whose place the test goes on."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, event.set)
    yield event
    loop.remove_signal_handler(signal.SIGTERM)


async def test_probes_need_no_credential(admin: AdminGateway) -> None:
    async with without_credentials(admin, "192.0.2.1") as here:
        assert await here.call("GET", "/api/livez") == {"ok": True}
        begun = await here.client.get("/api/init")
        reported = await here.call("GET", "/api/version")

    assert (begun.status_code, begun.text) == (200, "Initialized")
    assert begun.headers["content-type"].startswith("text/plain")
    assert reported["currentVersion"] == reported["latestVersion"] != ""
    assert reported["hasUpdate"] is False


async def test_the_locale_is_kept_in_a_cookie(admin: AdminGateway) -> None:
    async with without_credentials(admin, "192.0.2.1") as here:
        answer = await here.client.post("/api/locale", json={"locale": "pt-BR"})

    assert answer.json() == {"success": True, "locale": "pt-BR"}
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("locale=pt-BR;")
    assert "Path=/" in cookie
    assert "samesite=lax" in cookie.lower()


@pytest.mark.parametrize("locale", ["", "e", "en; HttpOnly", "en\r\nx: y", "x" * 50])
async def test_a_locale_is_a_language(admin: AdminGateway, locale: str) -> None:
    answer = await admin.call("POST", "/api/locale", {"locale": locale}, status=400)

    assert answer["error"] == "Invalid locale"


async def test_the_secret_permits_stopping_the_gateway(
    admin: AdminGateway, stopped: asyncio.Event
) -> None:
    answer = await admin.call("POST", SHUTDOWN, headers=STOP)
    async with asyncio.timeout(5):
        await stopped.wait()

    rows, _ = await own_stores(admin.core).audit.page(AuditFilter(action="process.stop"))
    assert answer == {"success": True, "message": "Shutting down"}
    assert len(rows) == 1


async def test_a_program_that_only_has_a_gateway_in_it_is_not_stopped(admin: AdminGateway) -> None:
    first = await admin.call("POST", SHUTDOWN, headers=STOP, status=403)
    second = await admin.call("POST", "/api/version/shutdown", status=403)

    assert first == second
    assert first["success"] is False


async def test_a_session_needs_the_secret_too(admin: AdminGateway, stopped: asyncio.Event) -> None:
    async with with_session(admin) as here:
        bare = await here.call("POST", SHUTDOWN, status=401)
        wrong = {"authorization": "Bearer stop-canary2"}
        other = await here.call("POST", SHUTDOWN, headers=wrong, status=401)
        basic = {"authorization": "Basic stop-canary"}
        third = await here.call("POST", SHUTDOWN, headers=basic, status=401)

    assert bare == other == third == {"success": False, "message": "Unauthorized"}
    assert not stopped.is_set()


async def test_the_secret_alone_is_not_enough(admin: AdminGateway, stopped: asyncio.Event) -> None:
    async with without_credentials(admin) as here:
        await here.call("POST", SHUTDOWN, headers=STOP, status=401)
        await here.call("POST", "/api/version/shutdown", status=401)
    async with with_key(admin) as key:
        await key.call("POST", SHUTDOWN, headers=STOP, status=403)
        await key.call("POST", "/api/version/shutdown", status=403)
        await key.call("POST", "/api/version/update", status=403)

    assert not stopped.is_set()


@pytest.mark.parametrize(
    "variables",
    [
        {"SHUTDOWN_SECRET": "stop-canary", "GATEWAY_MODE": "production"},
        {"SHUTDOWN_SECRET": "stop-canary", "GATEWAY_MODE": "container"},
        {"SHUTDOWN_SECRET": "stop-canary", "NODE_ENV": "production"},
    ],
    ids=["production", "container", "by the other name"],
)
async def test_a_gateway_in_production_is_not_stopped(
    admin: AdminGateway, stopped: asyncio.Event
) -> None:
    answer = await admin.call("POST", SHUTDOWN, headers=STOP, status=403)
    await admin.call("POST", "/api/version/shutdown", status=403)

    assert answer["success"] is False
    assert not stopped.is_set()


@pytest.mark.parametrize("variables", [{}])
async def test_without_a_secret_it_cannot_be_stopped(
    admin: AdminGateway, stopped: asyncio.Event
) -> None:
    empty = {"authorization": "Bearer "}

    answer = await admin.call("POST", SHUTDOWN, headers=empty, status=403)

    assert answer == {"success": False, "message": "SHUTDOWN_SECRET is not set"}
    assert not stopped.is_set()


async def test_it_stops_for_a_new_version_and_does_not_fetch_one(
    admin: AdminGateway, stopped: asyncio.Event
) -> None:
    refused = await admin.call("POST", "/api/version/update", status=501)
    answer = await admin.call("POST", "/api/version/shutdown")
    async with asyncio.timeout(5):
        await stopped.wait()

    assert refused["error"].startswith("This gateway does not update itself")
    assert answer["success"] is True
