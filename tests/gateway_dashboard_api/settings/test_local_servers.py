"""Looking for programs on this machine: model servers, a crawler, a proxy that works."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from admin_gateway import AdminGateway
from caller_kinds import SECRET, with_key, with_session, without_credentials
from collaborators import replace_collaborator
from fake_vendor import MockResponse
from real_proxy import real_proxy

from gateway_core.storage.stores.connection import Connection

pytestmark = pytest.mark.anyio
CONFIGURE = "/api/settings/auto-configure"
DETECT = "/api/settings/firecrawl/detect"
PROXY = "/api/settings/proxy-test"


@pytest.fixture
def variables() -> dict[str, str]:
    return {"JWT_SECRET": SECRET}


@pytest.fixture
async def session(admin: AdminGateway) -> AsyncIterator[AdminGateway]:
    """Somebody who has signed in; the vendor lets everybody in."""
    admin.vendor.key = None
    async with with_session(admin) as here:
        yield here


async def local(admin: AdminGateway) -> list[Connection]:
    return list(await admin.core.stores.connections.list("local"))


def line(report: dict[str, Any], provider: str = "local") -> dict[str, Any]:
    found: dict[str, Any] = next(e for e in report["report"] if e["provider"] == provider)
    return found


async def test_servers_that_answer_are_found_and_nothing_is_changed(session: AdminGateway) -> None:
    shown = await session.call("GET", CONFIGURE)
    dry = await session.call("POST", CONFIGURE, {"dryRun": True})

    assert shown == dry
    assert (dry["ok"], dry["dryRun"], dry["changed"]) == (True, True, 0)
    assert line(dry) == {
        "provider": "local",
        "url": f"{session.vendor.url}/v1",
        "reachable": True,
        "models": 2,
        "error": None,
        "action": "add",
    }
    assert {each["provider"] for each in dry["report"]} == {"open", "local"}
    assert await local(session) == []


async def test_an_account_is_made_for_a_server_once(session: AdminGateway) -> None:
    first = await session.call("POST", CONFIGURE, {})
    again = await session.call("POST", CONFIGURE, {})

    assert (first["dryRun"], first["changed"], again["changed"]) == (False, 2, 0)
    assert line(again)["action"] == "none"
    [made] = await local(session)
    assert (made.name, made.auth_type, made.is_active) == ("Local", "none", True)
    assert (await session.chat("local/large", **{"x-gateway-cli-token": _token(session)})).json()


def _token(admin: AdminGateway) -> str:
    return admin.core.identity.cli_token


async def test_an_account_that_is_off_is_switched_on_where_the_server_answers(
    session: AdminGateway,
) -> None:
    row = await session.connect("local")
    await session.call("PUT", f"/api/providers/{row['id']}", {"isActive": False})

    ran = await session.call("POST", CONFIGURE, {})

    assert line(ran)["action"] == "enable"
    assert [each.is_active for each in await local(session)] == [True]


async def test_a_server_that_is_not_there_changes_nothing(session: AdminGateway) -> None:
    session.vendor.script = lambda received: MockResponse((b"no",), status=503)

    ran = await session.call("POST", CONFIGURE, {})

    assert (ran["changed"], line(ran)["reachable"], line(ran)["action"]) == (0, False, "none")
    assert line(ran)["error"]
    assert await local(session) == []


@pytest.mark.parametrize(
    ("method", "path"), [("GET", CONFIGURE), ("POST", CONFIGURE), ("POST", DETECT)]
)
async def test_looking_for_servers_requires_a_session(
    admin: AdminGateway, method: str, path: str
) -> None:
    body: dict[str, Any] | None = {} if method == "POST" else None
    await admin.call(method, path, body, status=401)
    async with with_key(admin) as key:
        await key.call(method, path, body, status=403)
    await admin.call("PATCH", "/api/settings", {"requireLogin": False})
    async with without_credentials(admin) as here:
        await here.call(method, path, body, status=401)

    assert admin.vendor.calls() == []


async def test_a_crawler_is_found_where_the_settings_say(session: AdminGateway) -> None:
    session.vendor.script = lambda received: MockResponse((b"SCRAPERS-JS: Hello, world!",))
    await session.call("PATCH", "/api/settings", {"firecrawlBaseUrl": f"{session.vendor.url}/"})

    found = await session.call("POST", DETECT, {})

    assert (found["ok"], found["baseUrl"]) == (True, session.vendor.url)
    assert found["endpoints"][0] == {
        "baseUrl": session.vendor.url,
        "reachable": True,
        "status": 200,
        "error": None,
    }


async def test_a_crawler_is_not_looked_for_at_forbidden_addresses(session: AdminGateway) -> None:
    body = {"baseUrl": "http://169.254.169.254"}

    answer = await session.call("POST", DETECT, body, status=400)

    assert answer["error"].startswith("The provider's address")


async def test_a_crawler_that_is_not_there_is_not_found(session: AdminGateway) -> None:
    found = await session.call("POST", DETECT, {"baseUrl": "http://127.0.0.1:1"})

    assert found["endpoints"][0]["reachable"] is False
    assert found["endpoints"][0]["error"] == "The provider could not be reached."


def serve_page(admin: AdminGateway) -> None:
    """Let the page that proxies are tried with be the vendor's."""
    admin.vendor.script = lambda received: MockResponse((b"page",))
    page = f"http://page.test:{admin.vendor.port}/"
    replace_collaborator(
        admin.core,
        "environment",
        msgspec.structs.replace(admin.core.environment, proxy_test_url=page),
    )


async def test_a_proxy_is_tried_before_it_is_saved(admin: AdminGateway) -> None:
    serve_page(admin)
    async with real_proxy("socks5", "me:word") as proxy:
        good = await admin.call("POST", PROXY, {"proxyUrl": proxy.url})
        bad = await admin.call("POST", PROXY, {"proxyUrl": proxy.url_for("me:other")})

        assert (good["ok"], good["status"]) == (True, 200)
        assert good["elapsedMs"] >= 0
        assert "error" not in good
        assert (bad["ok"], bad["status"]) == (False, None)
        assert "other" not in bad["error"]
        assert proxy.reached == [f"page.test:{admin.vendor.port}"]


async def test_the_stored_proxy_is_tested_by_default(admin: AdminGateway) -> None:
    serve_page(admin)
    async with real_proxy("http", "me:word") as proxy:
        await admin.call("PATCH", "/api/settings", {"outboundProxyUrl": proxy.url})
        async with with_key(admin) as key:
            tried = await key.call("POST", PROXY, {})
            refused = await key.call("POST", PROXY, {"proxyUrl": proxy.url}, status=403)

        assert tried["ok"] is True
        assert refused["error"] == "An API key may not set a proxy"
        assert len(proxy.reached) == 1


async def test_a_page_that_is_not_good_counts_against_the_proxy(admin: AdminGateway) -> None:
    serve_page(admin)
    admin.vendor.script = lambda received: MockResponse((b"no",), status=503)
    async with real_proxy() as proxy:
        tried = await admin.call("POST", PROXY, {"proxyUrl": proxy.url})

    assert (tried["ok"], tried["status"]) == (False, 503)
    assert tried["error"] == "The test page answered 503"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "No proxy is configured"),
        ({"proxyUrl": "ftp://127.0.0.1"}, "The proxy's URL must be"),
        ({"proxyUrl": "http://169.254.169.254:80"}, "The provider's address"),
    ],
)
async def test_a_proxy_that_makes_no_sense_is_not_tried(
    admin: AdminGateway, body: dict[str, Any], error: str
) -> None:
    answer = await admin.call("POST", PROXY, body, status=400)

    assert answer["error"].startswith(error)
