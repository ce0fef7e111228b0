"""Inference from a session: the same endpoints, booked on the session's own key."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from admin_gateway import KEY, AdminGateway
from caller_kinds import SECRET, new_key, with_key, with_session, without_credentials
from other_servers import embedded
from served_gateway import Served, serve_gateway

pytestmark = pytest.mark.anyio
CHAT = "/api/playground/v1/chat/completions"
HELLO: dict[str, Any] = {
    "model": "echo/echo",
    "messages": [{"role": "user", "content": "Hello there"}],
}
SITE = "http://127.0.0.1"


async def rows_of(admin: AdminGateway) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await admin.call("GET", "/api/usage/history"))["rows"]
    return rows


async def test_a_session_is_answered_and_booked_on_its_own_key(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        answer = await person.call("POST", CHAT, HELLO, headers={"origin": SITE})

    assert "Hello there" in answer["choices"][0]["message"]["content"]
    row = (await rows_of(admin))[0]
    assert (row["endpoint"], row["status"]) == ("/v1/chat/completions", "ok")
    assert (row["keyName"], row["apiKeyMasked"]) == ("Playground (password)", None)


async def test_the_calls_of_the_playground_are_a_group_of_their_own(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        await person.call("POST", CHAT, HELLO)
    await admin.chat("echo/echo")

    series = await admin.call("GET", "/api/usage/series?groupBy=apiKey&period=24h")
    keys = {each["group"]["apiKey"]: each["name"] for each in series["groups"]}
    assert keys["playground:session:password"] == "Playground (password)"
    one = await admin.call("GET", "/api/usage/history?apiKeyId=playground:session:password")
    assert one["total"] == 1


@pytest.mark.parametrize(
    ("path", "body", "member"),
    [
        ("v1/messages", {**HELLO, "max_tokens": 50}, "content"),
        ("v1/responses", {"model": "echo/echo", "input": "Hi"}, "output"),
    ],
)
async def test_every_client_format_is_served(
    admin: AdminGateway, path: str, body: dict[str, Any], member: str
) -> None:
    async with with_session(admin) as person:
        answer = await person.call("POST", f"/api/playground/{path}", body)

    assert member in answer


async def test_a_page_of_another_site_cannot_call(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        for headers in (
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:8080"},
            {"sec-fetch-site": "cross-site"},
        ):
            refused = await person.client.post(CHAT, json=HELLO, headers=headers)
            assert (refused.status_code, refused.json().get("choices")) == (403, None)

    assert await rows_of(admin) == []


async def test_no_page_of_another_site_may_read_an_answer(admin: AdminGateway) -> None:
    key = await new_key(admin)
    async with with_session(admin) as person:
        answer = await person.client.post(
            CHAT, json=HELLO, headers={"origin": SITE, "x-api-key": key}
        )

    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"


async def test_nobody_else_is_let_in(admin: AdminGateway) -> None:
    async with without_credentials(admin) as here:
        await here.call("POST", CHAT, HELLO, status=401)
    async with without_credentials(admin, "192.0.2.1") as away:
        await away.call("POST", CHAT, HELLO, status=401)
    async with with_key(admin) as key:
        await key.call("POST", CHAT, HELLO, status=403)

    assert await rows_of(admin) == []


async def test_a_session_that_was_signed_out_is_nobody(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        await person.call("POST", "/api/auth/logout", {}, headers={"origin": SITE})
        await person.call("POST", CHAT, HELLO, status=401)


async def test_a_key_that_is_shown_beside_the_session_does_not_count(admin: AdminGateway) -> None:
    key = await new_key(admin, modelAccess={"mode": "deny", "patterns": ["*"]})
    async with with_session(admin) as person:
        await person.call("POST", CHAT, HELLO, headers={"x-api-key": key})

    assert (await rows_of(admin))[0]["keyName"] == "Playground (password)"


async def test_a_session_needs_no_key_where_clients_do(admin: AdminGateway) -> None:
    await admin.core.stores.settings.patch({"requireApiKey": True})
    await admin.core.refresh()

    async with with_session(admin) as person:
        await person.call("POST", CHAT, HELLO)


async def test_the_vendor_gets_nothing_of_the_session(admin: AdminGateway) -> None:
    await admin.connect("acme")
    async with with_session(admin) as person:
        await person.call("POST", CHAT, {**HELLO, "model": "acme/large"})

    (received,) = admin.vendor.calls("/chat/completions")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert "cookie" not in received.headers


async def test_errors_are_those_of_the_endpoint(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        unknown = await person.call("POST", CHAT, {**HELLO, "model": "nobody/x"}, status=404)
        await person.call("POST", "/api/playground/v1/nothing", HELLO, status=404)
        await person.call("GET", CHAT, status=405)

    assert unknown["error"]["type"] == "invalid_request_error"


@pytest.fixture(scope="module", params=["fast", "uvicorn"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("data")
    variables = {"JWT_SECRET": SECRET}
    if request.param == "fast":
        with serve_gateway(folder, {}, variables=variables) as running:
            yield running
    else:
        with embedded(request.param, folder, {}, variables=variables) as guest:
            yield guest.here


def test_a_stream_arrives_over_a_connection_that_is_kept(here: Served) -> None:
    cookie = f"auth_token={here.gateway.core.sessions.issue()}"
    with httpx2.Client(base_url=here.url, timeout=20, headers={"cookie": cookie}) as client:
        for _ in range(3):
            answer = client.post(CHAT, json={**HELLO, "stream": True})
            lines = [line for line in answer.iter_lines() if line]
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert lines[-1] == "data: [DONE]"

    assert {row.api_key_id for row in here.rows()} == {"playground:session:password"}
    assert len(here.rows()) == 3
