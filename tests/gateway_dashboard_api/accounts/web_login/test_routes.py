"""The assisted login, from the dashboard's start to a saved account, and its host."""

from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
import pytest
from admin_gateway import AdminGateway, opened
from caller_kinds import SECRET, with_key, with_session, without_credentials
from snapshots import Clock
from web_logins import COOKIES, ORIGIN, Demonstration, browser, plugin

pytestmark = pytest.mark.anyio
PATH = "/api/providers/web-login"
HELLO = {"model": "pages/m", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def variables() -> dict[str, str]:
    return {"GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN, "JWT_SECRET": SECRET}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def vendor() -> Demonstration:
    return Demonstration()


@pytest.fixture
async def admin(
    tmp_path: Path, variables: dict[str, str], clock: Clock, vendor: Demonstration
) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, variables, clock, {"pages": plugin(vendor)}) as here:
        yield here


@pytest.fixture
async def popup(admin: AdminGateway) -> AsyncIterator[httpx2.AsyncClient]:
    async with browser(admin) as here:
        yield here


async def started(admin: AdminGateway) -> dict[str, Any]:
    answer: dict[str, Any] = await admin.call("POST", f"{PATH}/start", {"provider": "pages"})
    return answer


async def entered(admin: AdminGateway, popup: httpx2.AsyncClient) -> dict[str, Any]:
    """A login whose browser has come in."""
    login = await started(admin)
    answer = await popup.get(login["url"])
    assert answer.status_code == 303
    return login


async def signed_in(admin: AdminGateway, popup: httpx2.AsyncClient) -> dict[str, Any]:
    """A login whose cookies are captured."""
    login = await entered(admin, popup)
    await popup.post("/__web_login/pages/", data={"pass": "word"})
    done = await popup.get("/__web_login/pages/done")
    assert done.text == "<p>Done"
    return login


async def state(admin: AdminGateway, login: dict[str, Any]) -> str:
    answer = await admin.call("GET", f"{PATH}/status?id={login['id']}")
    return str(answer["state"])


async def test_a_login_leads_to_an_account_with_the_captured_cookie(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await started(admin)
    assert await state(admin, login) == "waiting"
    await popup.get(login["url"])
    assert await state(admin, login) == "open"
    await popup.post("/__web_login/pages/", data={"pass": "word"})
    await popup.get("/__web_login/pages/done")
    assert await state(admin, login) == "captured"

    made = await admin.call(
        "POST", f"{PATH}/finish", {"id": login["id"], "name": "main"}, status=201
    )

    row = made["connection"]
    assert (row["provider"], row["authType"], row["name"]) == ("pages", "cookie", "main")
    assert (await admin.stored(row["id"]))["apiKey"] == COOKIES


async def test_an_account_can_be_given_a_new_cookie(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    before = await admin.connect("pages", apiKey="old-canary")
    login = await signed_in(admin, popup)
    body = {"id": login["id"], "connectionId": before["id"]}

    made = await admin.call("POST", f"{PATH}/finish", body, status=201)

    assert made["connection"]["id"] == before["id"]
    assert (await admin.stored(before["id"]))["apiKey"] == COOKIES


async def test_the_account_has_to_be_the_providers_own(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    other = await admin.connect()
    login = await signed_in(admin, popup)
    body = {"id": login["id"], "connectionId": other["id"]}

    await admin.call("POST", f"{PATH}/finish", body, status=400)
    await admin.call("POST", f"{PATH}/finish", {**body, "connectionId": "none"}, status=404)

    assert await state(admin, login) == "captured"


async def test_a_login_is_finished_once(admin: AdminGateway, popup: httpx2.AsyncClient) -> None:
    login = await signed_in(admin, popup)
    await admin.call("POST", f"{PATH}/finish", {"id": login["id"], "name": "a"}, status=201)

    await admin.call("POST", f"{PATH}/finish", {"id": login["id"], "name": "b"}, status=404)

    assert (await popup.get("/__web_login/pages/")).status_code == 404


async def test_a_login_that_has_not_come_to_its_end_saves_nothing(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await entered(admin, popup)

    reported = await admin.call("POST", f"{PATH}/finish", {"id": login["id"]}, status=409)

    assert reported["code"] == "web_login_pending"
    assert (await admin.call("GET", "/api/providers"))["connections"] == []


async def test_a_cancelled_login_leaves_no_way_in(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login, unused = await entered(admin, popup), await started(admin)

    for each in (login, unused):
        await admin.call("POST", f"{PATH}/cancel", {"id": each["id"]})

    assert (await popup.get("/__web_login/pages/")).status_code == 404
    assert (await popup.get(unused["url"])).status_code == 404
    await admin.call("GET", f"{PATH}/status?id={login['id']}", status=404)
    await admin.call("POST", f"{PATH}/cancel", {"id": login["id"]}, status=404)


async def test_a_grant_is_told_with_its_end_and_opens_the_login_once(
    admin: AdminGateway, popup: httpx2.AsyncClient, clock: Clock
) -> None:
    login = await started(admin)

    first = await popup.get(login["url"])
    async with browser(admin) as second:
        again = await second.get(login["url"])

    assert login["url"] == f"{ORIGIN}:80/__web_login/bootstrap?grant={login['grant']}"
    assert login["expiresAt"] == "2027-01-15T08:02:00.000Z"
    assert (first.status_code, first.headers["location"]) == (303, "/__web_login/pages/")
    assert again.status_code == 404
    assert "set-cookie" not in again.headers


async def test_a_grant_does_not_wait_for_ever(
    admin: AdminGateway, popup: httpx2.AsyncClient, clock: Clock
) -> None:
    login = await started(admin)

    clock.now += 120

    assert (await popup.get(login["url"])).status_code == 404


async def test_the_cookie_is_for_this_host_and_no_script(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await started(admin)

    answer = await popup.get(login["url"])

    (morsel,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert morsel.key == "web_login"
    assert login["grant"] not in answer.headers["set-cookie"]
    assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "lax", "/__web_login")
    assert (morsel["domain"], morsel["max-age"], morsel["secure"]) == ("", "600", "")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "variables",
    [{"GATEWAY_WEB_LOGIN_ORIGIN": "https://login.example", "JWT_SECRET": SECRET}],
    ids=["https"],
)
async def test_over_https_the_cookie_is_for_https_only(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await started(admin)

    answer = await popup.get("/__web_login/bootstrap", params={"grant": login["grant"]})

    assert SimpleCookie(answer.headers["set-cookie"])["web_login"]["secure"] is True


async def test_the_popup_leads_from_the_dashboards_address_to_the_logins(
    admin: AdminGateway,
) -> None:
    login = await started(admin)

    opened_at = await admin.client.get(f"{PATH}/popup", params={"grant": login["grant"]})
    nowhere = await admin.client.get(f"{PATH}/popup", params={"grant": "unknown"})

    assert (opened_at.status_code, opened_at.headers["location"]) == (303, login["url"])
    assert nowhere.status_code == 404


async def test_nobody_gets_a_page_without_the_cookie_of_that_login(
    admin: AdminGateway, popup: httpx2.AsyncClient, vendor: Demonstration
) -> None:
    await entered(admin, popup)
    async with browser(admin) as stranger:
        plain = await stranger.get("/__web_login/pages/")
        forged = await stranger.get("/__web_login/pages/", headers={"cookie": "web_login=x"})
    elsewhere = await popup.get("/__web_login/acme/")

    assert {plain.status_code, forged.status_code, elsewhere.status_code} == {404}
    assert vendor.received == []


async def test_a_page_of_another_origin_cannot_post_into_a_login(
    admin: AdminGateway, popup: httpx2.AsyncClient, vendor: Demonstration
) -> None:
    await entered(admin, popup)

    for headers in ({"origin": "http://127.0.0.1"}, {"sec-fetch-site": "same-site"}):
        answer = await popup.post("/__web_login/pages/", data={"pass": "x"}, headers=headers)
        assert answer.status_code == 403

    assert vendor.received == []


async def test_the_plugin_sees_the_request_and_keeps_its_memory(
    admin: AdminGateway, popup: httpx2.AsyncClient, vendor: Demonstration
) -> None:
    await entered(admin, popup)

    await popup.post("/__web_login/pages/a/b/?c=d", data={"pass": "word"})
    await popup.get("/__web_login/pages/done")

    first, second = vendor.received
    assert (first.method, first.path, first.query) == ("POST", "a/b", "c=d")
    assert (first.body, second.method) == (b"pass=word", "GET")
    assert second.memory == {"form": b"pass=word"}
    assert "cookie" not in first.headers


async def test_a_plugin_gives_no_cookies_and_opens_nothing_to_other_origins(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    await entered(admin, popup)

    answer = await popup.get("/__web_login/pages/steal")

    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert not any(name.startswith("access-control-") for name in answer.headers)
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_what_cannot_be_a_cookie_is_not_captured(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await entered(admin, popup)

    answer = await popup.get("/__web_login/pages/broken")

    assert answer.status_code == 500
    assert await state(admin, login) == "open"


@pytest.mark.parametrize("provider", ["acme", "unknown", ""])
async def test_only_a_provider_with_pages_has_an_assisted_login(
    admin: AdminGateway, provider: str
) -> None:
    reported = await admin.call("POST", f"{PATH}/start", {"provider": provider}, status=400)

    assert reported["code"] == "no_web_login"


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"GATEWAY_WEB_LOGIN_ORIGIN": "login.example"},
        {"GATEWAY_WEB_LOGIN_ORIGIN": "http://127.0.0.1:1"},
        {"GATEWAY_WEB_LOGIN_ORIGIN": "http://login.example", "BASE_URL": "https://login.example"},
    ],
    ids=["missing", "malformed", "own", "public"],
)
async def test_without_an_origin_of_its_own_there_is_no_assisted_login(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    reported = await admin.call("POST", f"{PATH}/start", {"provider": "pages"}, status=400)

    assert reported["code"] == "web_login_off"
    assert (await popup.get("/__web_login/bootstrap?grant=x")).status_code == 401
    assert (await popup.get("/api/health")).status_code == 200
    await admin.connect("pages", apiKey="by-hand-canary")


async def test_only_the_operator_steers_a_login(admin: AdminGateway) -> None:
    login = await started(admin)
    body = {"provider": "pages"}
    async with without_credentials(admin, "192.0.2.7") as remote, with_key(admin) as key:
        for name in ("start", "finish", "cancel"):
            await remote.call("POST", f"{PATH}/{name}", body, status=401)
            await key.call("POST", f"{PATH}/{name}", body, status=403)
        for name in ("status?id=", "popup?grant="):
            await remote.call("GET", f"{PATH}/{name}{login['id']}", status=401)
            await key.call("GET", f"{PATH}/{name}{login['id']}", status=403)
    async with with_session(admin) as person:
        await person.call("POST", f"{PATH}/start", body)


DENIED = (
    *("/", "/dashboard", "/login", "/favicon.ico", "/static/app.js", "/v1", "/v1/models"),
    *("/v1/provider-plugin-manifest", "/api/health", "/api/settings", "/api/auth/login"),
    *("/api/auth/status", PATH + "/start", "/__web_login", "/__web_login/", "/__web_loginx"),
    *("/__web_login/bootstrap", "/__web_login/pages/", "/__web_login/../api/health", "//api"),
    *("/api/%zz", "/api//settings", "/__WEB_LOGIN/bootstrap", "/api/mcp/control", "/" + "a" * 9000),
)


@pytest.mark.parametrize("host", ["login.example", "LOGIN.example:8080", "login.example."])
async def test_the_logins_host_serves_nothing_else(admin: AdminGateway, host: str) -> None:
    token = admin.client.headers["x-gateway-cli-token"]
    bodies = set()
    for path in DENIED:
        for method in ("GET", "POST", "OPTIONS", "DELETE", "TRACE"):
            answer = await admin.client.request(
                *(method, f"http://127.0.0.1{path}"),
                headers={"host": host, "x-gateway-cli-token": token},
            )
            reported = answer.json()
            assert reported.pop("request_id") == answer.headers["x-request-id"]
            assert answer.status_code == 404, (method, path)
            assert "allow" not in answer.headers
            bodies.add(str(reported))

    assert bodies == {"{'error': 'Not found', 'code': 'not_found'}"}


async def test_no_inference_at_the_logins_host(admin: AdminGateway) -> None:
    for path in ("/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"):
        answer = await admin.client.post(path, json=HELLO, headers={"host": "login.example"})
        assert answer.status_code == 404

    assert (await admin.core.stores.usage.page()).total == 0


async def test_the_pages_of_a_login_are_at_no_other_host(
    admin: AdminGateway, popup: httpx2.AsyncClient
) -> None:
    login = await started(admin)
    grant = f"/__web_login/bootstrap?grant={login['grant']}"

    refused = await admin.client.get(grant)
    async with without_credentials(admin, "192.0.2.7") as remote:
        stranger = await remote.client.get(grant)

    assert (refused.status_code, stranger.status_code) == (404, 401)
    assert (await popup.get(login["url"])).status_code == 303


async def test_sockets_are_refused_at_the_logins_host(admin: AdminGateway) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    headers = [(b"host", b"login.example")]
    scope = {"type": "websocket", "path": "/v1/realtime", "headers": headers, "client": None}
    await admin.gateway.app(scope, receive, send)

    assert [message["type"] for message in sent] == ["websocket.close"]
