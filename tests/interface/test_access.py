"""Access: every route with every credential (5.1, 5.2)."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest
from admin_gateway import AdminGateway, client_of, opened
from caller_kinds import SECRET
from credentials import (
    AWAY,
    HERE,
    Credential,
    address,
    credentials,
    open_credentials,
    operations,
    passes,
)
from own_stores import own_stores
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute

from gateway_core import hookimpl
from gateway_core.http.operations import STREAM, Guarded, guarded
from gateway_core.identity.access import REMOTE, RULES, Access
from gateway_core.identity.credentials import CLI_HEADER, cli_token

pytestmark = pytest.mark.anyio
METHODS = ("GET", "POST", "PUT", "DELETE")
ON_THIS_HOST = [access for access in Access if access is not Access.ISOLATED]


async def welcome(request: Request) -> JSONResponse:
    return JSONResponse({"welcome": True})


def probes() -> list[Guarded]:
    """A plugin's route of each class."""
    return [guarded(f"/api/probe/{access}", welcome, access, "knock", METHODS) for access in Access]


def plugin(*routes: object) -> object:
    def register_routes(host: object) -> list[Any]:
        return list(routes)

    return SimpleNamespace(register_routes=hookimpl(register_routes))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    more = {"probes": plugin(*probes())}
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more=more) as here:
        yield here


async def knock(
    admin: AdminGateway, credential: Credential, method: str, path: str, **more: Any
) -> httpx2.Response:
    async with client_of(admin.gateway, credential.host, operator=False) as client:
        return await client.request(method, path, headers=credential.headers, **more)


async def unlock(admin: AdminGateway) -> None:
    await admin.core.stores.settings.patch({"requireLogin": False})
    await admin.core.refresh()


async def all_credentials(admin: AdminGateway, *, is_open: bool) -> dict[str, Credential]:
    if not is_open:
        return await credentials(admin)
    await unlock(admin)
    return open_credentials()


@pytest.mark.parametrize("is_open", [False, True], ids=["login", "open"])
async def test_each_access_class_admits_the_callers_of_its_rule(
    admin: AdminGateway, is_open: bool
) -> None:
    wanted, found = {}, {}
    for name, credential in (await all_credentials(admin, is_open=is_open)).items():
        for access in ON_THIS_HOST:
            for method in ("GET", "POST"):
                row = (name, str(access), method)
                wanted[row] = passes(access, credential, method)
                answer = await knock(admin, credential, method, f"/api/probe/{access}")
                found[row] = answer.status_code

    assert found == wanted
    assert set(wanted.values()) == {200, 401, 403}


@pytest.mark.parametrize("is_open", [False, True], ids=["login", "open"])
async def test_every_route_refuses_callers_that_its_class_refuses(
    admin: AdminGateway, is_open: bool
) -> None:
    wanted, found = {}, {}
    for name, credential in (await all_credentials(admin, is_open=is_open)).items():
        for operation in operations(admin):
            if operation.access is Access.ISOLATED:
                continue
            status = passes(operation.access, credential, operation.method)
            if status == 200:
                continue
            row = (name, operation.method, operation.path)
            wanted[row] = status
            answer = await knock(admin, credential, operation.method, address(operation.path))
            found[row] = answer.status_code

    assert found == wanted
    assert len(wanted) > 500


async def test_an_unauthenticated_caller_reaches_public_routes_only(admin: AdminGateway) -> None:
    stranger = Credential(host=AWAY)
    let_in = set()
    for operation in operations(admin):
        answer = await knock(admin, stranger, operation.method, address(operation.path), json={})
        if answer.status_code not in (401, 403):
            let_in.add((operation.method, operation.path))
        else:
            assert "error" in answer.json()
            assert answer.headers["cache-control"] == "no-store"
            assert "set-cookie" not in answer.headers

    public = {(o.method, o.path) for o in operations(admin) if o.access is Access.PUBLIC}
    assert let_in <= public
    assert {("GET", f"/api/{each}") for each in ("health", "ready")} <= let_in
    assert ("GET", "/v1/provider-plugin-manifest") in let_in


async def test_every_route_has_a_purpose_and_an_access_class(admin: AdminGateway) -> None:
    for each in admin.gateway.app.routes:
        assert isinstance(each.access, Access)
        if isinstance(each.route, WebSocketRoute):
            # The same path answers requests that are no handshake, and is what documents show.
            there = [o for other in admin.gateway.app.routes for o in other.operations]
            assert ("GET", each.route.path, each.access) in {
                (o.method, o.path, o.access) for o in there
            }
            continue
        assert isinstance(each.route, Route)
        reported = {operation.method for operation in each.operations}
        assert reported == (each.route.methods or set()) - {"HEAD"}
        for operation in each.operations:
            assert (operation.path, operation.access) == (each.route.path, each.access)
            assert operation.purpose
            assert not operation.purpose.endswith(".")


async def test_no_two_operations_have_the_same_address(admin: AdminGateway) -> None:
    reported = [(operation.method, operation.path) for operation in operations(admin)]

    assert sorted(set(reported)) == sorted(reported)


SHUT_TO_KEYS = (
    *("/api/shutdown", "/api/version/", "/api/settings/database", "/api/data-retention"),
    *("/api/key-groups", "/api/compression", "/api/token-saver", "/api/pxpipe", "/api/tunnel"),
    *("/api/oauth/", "/api/auth/mfa", "/api/auth/oidc/test", "/api/auth/reset-password"),
    *("/api/providers/web-login", "/api/mcp/sse", "/api/mcp/message", "/api/audit"),
)
"""What an API key may never do (5.2 rule 3)."""


async def test_no_class_of_a_protected_family_takes_a_key(admin: AdminGateway) -> None:
    for operation in operations(admin):
        is_shut = operation.path.startswith(SHUT_TO_KEYS) or operation.path.endswith("/reveal")
        if is_shut and operation.access is not Access.PUBLIC:
            assert not RULES[operation.access].key, operation.path


@pytest.mark.parametrize("path", ["/api/probe/management", "/v1/chat/completions", "/v1/models"])
async def test_many_query_parameters_do_not_authenticate(admin: AdminGateway, path: str) -> None:
    query = "&".join(["key=no"] * 1000)
    async with client_of(admin.gateway, "192.0.2.9", operator=False) as stranger:
        answer = await stranger.post(f"{path}?{query}", json={})

    assert answer.status_code == 401


@pytest.mark.parametrize("name", ["key here", "key away", "restricted"])
async def test_a_key_never_reveals_a_secret(admin: AdminGateway, name: str) -> None:
    credential = (await credentials(admin))[name]
    for path in (
        "/api/keys/x/reveal",
        "/api/keys/x/reveal/",
        "/api/x/reveal",
        "/api/keys?reveal=1",
    ):
        assert (await knock(admin, credential, "GET", path)).status_code == 403
    for query in ("reveal=true", "%72eveal=1", "a=b&reveal=1", "reveal", "reveal=0&reveal=1"):
        answer = await knock(admin, credential, "GET", f"/api/probe/management?{query}")
        assert answer.status_code == 403
    for query in ("reveal=0", "reveal=false", "revealed=1", ""):
        answer = await knock(admin, credential, "GET", f"/api/probe/management?{query}")
        assert answer.status_code == 200


async def test_a_route_without_a_class_is_not_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bare = Route("/api/bare", welcome)
    odd = Guarded(Route("/api/odd", welcome), cast(Access, "whatever"))
    good = guarded("/api/good", welcome, Access.PUBLIC, "knock")
    more = {"careless": plugin(bare, odd, good)}
    with caplog.at_level(logging.WARNING):
        async with opened(tmp_path, {}, more=more) as admin:
            statuses = [
                (await admin.client.get(path)).status_code
                for path in ("/api/bare", "/api/odd", "/api/good")
            ]

    assert statuses[0] == 404
    assert statuses[1] in (401, 404)
    assert statuses[2] == 200
    assert "careless" in caplog.text
    assert "not Guarded" in caplog.text


async def test_a_plugin_cannot_leave_the_class_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def register_routes(host: object) -> list[Any]:
        make: Any = Guarded
        return [make(Route("/api/bare", welcome))]

    more = {"careless": SimpleNamespace(register_routes=hookimpl(register_routes))}
    with caplog.at_level(logging.WARNING):
        async with opened(tmp_path, {}, more=more) as admin:
            answer = await admin.client.get("/api/bare")

    assert answer.status_code == 404
    assert "access" in caplog.text


async def test_the_gateways_own_routes_win_a_conflict(tmp_path: Path) -> None:
    more = {"greedy": plugin(guarded("/api/health", welcome, Access.MANAGEMENT, "knock"))}
    async with opened(tmp_path, {}, more=more) as admin:
        answer = await knock(admin, Credential(host=AWAY), "GET", "/api/health")

    assert answer.json() == {"ok": True}


async def test_a_write_through_dns_rebinding_changes_nothing(admin: AdminGateway) -> None:
    await unlock(admin)
    before = await admin.core.stores.settings.document()
    headers = {"host": "rebind.example:20128", "origin": "http://rebind.example:20128"}
    rebound = Credential(host=HERE, headers=headers)

    for method, path in (("PATCH", "/api/settings"), ("POST", "/api/keys"), ("POST", "/api/mcp")):
        answer = await knock(admin, rebound, method, path, json={"requireApiKey": True})
        assert answer.status_code in (401, 403)

    assert await admin.core.stores.settings.document() == before


def wrong_tokens(admin: AdminGateway) -> list[str]:
    token = admin.core.identity.cli_token
    other = cli_token("another machine", "another secret")
    return ["", token[:-1], token.upper() + "A", token * 2, "0" * len(token), other, f"{token}, x"]


async def test_a_wrong_cli_token_is_refused(admin: AdminGateway) -> None:
    for host in (HERE, AWAY):
        for token in wrong_tokens(admin):
            shown = Credential(host=host, headers={CLI_HEADER: token})
            local = await knock(admin, shown, "POST", "/api/probe/local")
            protected = await knock(admin, shown, "POST", "/api/probe/protected")
            reset = await knock(admin, shown, "POST", "/api/auth/reset-password")
            assert local.status_code == reset.status_code == 403
            assert local.json()["error"] == "Local only: CLI token required"
            assert (protected.status_code, protected.json()["error"]) == (401, "Unauthorized")


async def test_the_cli_token_of_another_data_directory_is_refused(
    admin: AdminGateway, tmp_path: Path
) -> None:
    async with opened(tmp_path / "other", {}) as other:
        token = other.core.identity.cli_token
        shown = Credential(host=HERE, headers={CLI_HEADER: token})
        answer = await knock(admin, shown, "POST", "/api/probe/local")

    assert token != admin.core.identity.cli_token
    assert answer.status_code == 403


CHAT = {"model": "acme/large", "messages": [{"role": "user", "content": "Hello"}]}


async def refusals(admin: AdminGateway, host: str) -> list[tuple[int, str]]:
    """The error for each bad key on a chat route, without the request's id."""
    mint = admin.core.identity.keys.mint
    texts = [mint.new(), mint.new()[:-1] + "!", "sk-unknown0", "sk-", "nonsense", "sk-" + "x" * 400]
    deleted = (await credentials(admin))["key away"].headers["x-api-key"]
    for row in await admin.core.stores.keys.list():
        if row.is_active and not row.policy and not row.expires_at and not row.allowed_combos:
            await own_stores(admin.core).keys.delete(row.id)
    await admin.core.refresh()
    bad = await credentials(admin)
    texts += [bad[name].headers["x-api-key"] for name in ("paused away", "expired away")]
    found = []
    for text in (*texts, deleted):
        shown = Credential(host=host, headers={"authorization": f"Bearer {text}"})
        answer = await knock(admin, shown, "POST", "/v1/chat/completions", json=CHAT)
        request_id = answer.headers["x-request-id"]
        assert request_id in answer.text
        found.append((answer.status_code, answer.text.replace(request_id, "")))
    return found


@pytest.mark.parametrize("host", [HERE, AWAY])
async def test_every_bad_key_gets_the_same_error(admin: AdminGateway, host: str) -> None:
    await admin.core.stores.settings.patch({"requireApiKey": True})

    reported = await refusals(admin, host)

    assert len(reported) == 9
    assert len(set(reported)) == 1
    assert reported[0][0] == 401
    assert '"Invalid API key"' in reported[0][1]


async def test_a_missing_key_is_reported_as_such(admin: AdminGateway) -> None:
    await admin.core.stores.settings.patch({"requireApiKey": True})
    await admin.core.refresh()
    path = "/v1/chat/completions"

    here = await knock(admin, Credential(host=HERE), "POST", path, json=CHAT)
    away = await knock(admin, Credential(host=AWAY), "POST", path, json=CHAT)

    assert here.status_code == away.status_code == 401
    assert here.json()["error"]["message"] == "Missing API key"
    assert away.json()["error"] == REMOTE


@pytest.mark.parametrize("name", ["paused here", "expired here"])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/models"])
async def test_a_key_that_is_no_longer_valid_is_refused_on_this_machine_too(
    admin: AdminGateway, name: str, path: str
) -> None:
    credential = (await credentials(admin))[name]
    method = "GET" if path == "/v1/models" else "POST"

    answer = await knock(admin, credential, method, path, json=CHAT)

    assert answer.status_code == 401
    assert "Invalid API key" in answer.text


async def test_an_unknown_placeholder_key_is_ignored_on_this_machine(admin: AdminGateway) -> None:
    credential = Credential(host=HERE, headers={"authorization": "Bearer sk_placeholder"})

    assert (await knock(admin, credential, "GET", "/v1/models")).status_code == 200


async def test_responses_for_one_caller_are_not_cacheable(admin: AdminGateway) -> None:
    known = await credentials(admin)
    for operation in operations(admin):
        if operation.method != "GET" or operation.media == STREAM or "{" in operation.path:
            continue
        if operation.access in (Access.PUBLIC, Access.ISOLATED):
            continue
        answer = await knock(admin, known["session away"], "GET", operation.path)
        response = answer.headers.get("cache-control", "")
        assert "no-store" in response or "private" in response, operation.path
        assert answer.headers["x-content-type-options"] == "nosniff", operation.path


async def test_a_route_that_answers_options_itself_is_asked_only_by_who_may(tmp_path: Path) -> None:
    heard: list[str] = []

    async def listen(request: Request) -> JSONResponse:
        heard.append(request.method)
        return JSONResponse({"secret": True})

    path = "/api/probe/own-options"
    own = guarded(path, listen, Access.PROTECTED, "knock", ("OPTIONS",))
    async with opened(tmp_path, {"JWT_SECRET": SECRET}, more={"own": plugin(own)}) as admin:
        async with client_of(admin.gateway, AWAY, operator=False) as stranger:
            refused = await stranger.options(path)
        token = {CLI_HEADER: admin.core.identity.cli_token}
        welcome = await admin.client.options(path, headers=token)

    assert (refused.status_code, refused.content) == (204, b"")
    assert welcome.json() == {"secret": True}
    assert heard == ["OPTIONS"]
