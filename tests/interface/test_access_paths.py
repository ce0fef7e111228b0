"""Other spellings of a protected path, and ambiguous requests (5.2)."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from admin_gateway import REPLY, AdminGateway, opened
from caller_kinds import SECRET
from credentials import AWAY, FORGED, address, credentials, operations
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway
from starlette.applications import Starlette
from starlette.routing import Mount
from unnormalized_requests import Answer, call_app, raw_request, send_raw

from gateway_cli.event_loop import LOOPS
from gateway_core.identity.access import RULES, Access

pytestmark = pytest.mark.anyio
REFUSED = {400, 401, 403, 404}
FAR = "X-Forwarded-For: 203.0.113.5"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminGateway]:
    async with opened(tmp_path, {"JWT_SECRET": SECRET}) as here:
        yield here


def aliases(path: str) -> list[str]:
    """Other ways to write a path under ``/api``."""
    rest = path.removeprefix("/api")
    return [
        *(f"/{path}", f"/api/{rest}", f"/api/.{rest}", f"/api/x/..{rest}", f"/%61pi{rest}"),
        *(f"/api%2f{rest[1:]}", f"{path}/", f"{path};a=b", f"{path}%20", f"/API{rest}"),
        *(f"/api/v1/..{rest}", f"/v1/..{path}", f"/v1/v1/../..{path}", f"{path}%00", f"{path}%0a"),
        *(f"{path}/.", f"{path}%2e", f"{path}%5c", f"\\api{rest}", f"/api\\{rest[1:]}"),
        *(f"/%2e%2e{path}", f"/v1%2f..{path}", f"/api/v1%2f..{rest}", f"{path}%3b", f"{path}//"),
        *(f"http://127.0.0.1{path}", f"{path}%ff", f"{path}#x", f"/;{path}", f"*{path}"),
    ]


async def test_no_spelling_of_a_protected_path_admits_an_unauthenticated_caller(
    admin: AdminGateway,
) -> None:
    let_in = []
    for operation in operations(admin):
        if operation.access in (Access.PUBLIC, Access.ISOLATED):
            continue
        for target in aliases(address(operation.path)):
            answer = await call_app(admin.gateway.app, target, method=operation.method, client=AWAY)
            if answer.status not in REFUSED:
                let_in.append((operation.method, target, answer.status))

    assert let_in == []


async def test_no_spelling_of_a_path_admits_a_key_where_keys_are_refused(
    admin: AdminGateway,
) -> None:
    key = (await credentials(admin))["key away"]
    let_in = []
    for operation in operations(admin):
        if RULES[operation.access].key or operation.access in (Access.PUBLIC, Access.ISOLATED):
            continue
        for target in (operation.path, *aliases(address(operation.path))):
            answer = await call_app(
                *(admin.gateway.app, target),
                method=operation.method,
                client=key.host,
                headers=key.headers,
            )
            if answer.status not in REFUSED:
                let_in.append((operation.method, target, answer.status))

    assert let_in == []


async def test_a_slash_at_the_end_means_the_same_as_none(admin: AdminGateway) -> None:
    headers = dict(admin.client.headers)

    for path in ("/api/settings", "/v1/models", "/api/v1/models", "/v1/v1/models", "/api/health"):
        plain = await call_app(admin.gateway.app, path, headers=headers)
        slashed = await call_app(admin.gateway.app, f"{path}/", headers=headers)
        assert (plain.status, plain.body) == (slashed.status, slashed.body)
        assert plain.status == 200


async def test_upper_and_lower_case_differ(admin: AdminGateway) -> None:
    headers = dict(admin.client.headers)

    for path in ("/API/settings", "/api/Settings", "/V1/models", "/api/HEALTH"):
        assert (await call_app(admin.gateway.app, path, headers=headers)).status == 404


async def test_a_mounted_gateway_checks_access(admin: AdminGateway) -> None:
    app = Starlette(routes=[Mount("/gate", app=admin.gateway.app)])
    token = dict(admin.client.headers)

    assert (await call_app(app, "/gate/api/health", client=AWAY)).status == 200
    assert (await call_app(app, "/gate/api/settings", client=AWAY)).status == 401
    assert (await call_app(app, "/gate/api/settings/", headers=token)).status == 200
    assert (await call_app(app, "/gate/v1/v1/models", headers=token)).status == 200
    for target in ("/gate/api//settings", "/gate/api/%zz", "/gate/api/x/../settings"):
        assert (await call_app(app, target, headers=token)).status == 401
    for target in ("/gate//api/settings", "/gate/v1/../api/settings"):
        assert (await call_app(app, target, headers=token)).status == 400


async def test_forged_headers_have_no_effect_in_a_mounted_gateway(admin: AdminGateway) -> None:
    mounted = Starlette(routes=[Mount("/gate", app=admin.gateway.app)])
    for app, prefix in ((admin.gateway.app, ""), (mounted, "/gate")):
        for path in ("/v1/models", "/api/settings", "/api/providers"):
            for headers in (FORGED, {**FORGED, "x_gateway_real_ip": "::1"}):
                far = await call_app(app, prefix + path, client=AWAY, headers=headers)
                near = await call_app(
                    app, prefix + path, headers={**headers, "x-forwarded-for": "127.0.0.1"}
                )
                assert (far.status, near.status) == (401, 401)


async def test_head_has_no_body_on_any_route(admin: AdminGateway) -> None:
    token = dict(admin.client.headers)

    for path in ("/api/settings", "/v1/models", "/api/health", "/api/none", "/v1/none", "/v1//x"):
        answer = await call_app(admin.gateway.app, path, method="HEAD", headers=token)
        assert answer.body == b""


async def test_exactly_one_host_is_required_on_any_route(admin: AdminGateway) -> None:
    token = dict(admin.client.headers)

    for path in ("/api/health", "/api/settings", "/v1/models", "/v1/chat/completions"):
        for value in ("", "a b", "127.0.0.1/x"):
            answer = await call_app(admin.gateway.app, path, headers={**token, "host": value})
            assert answer.status == 400
        for value in ("127.0.0.1", "evil.example"):
            answer = await call_app(
                admin.gateway.app, path, headers=token, repeated=(("host", value),)
            )
            assert answer.status == 400


async def test_trace_is_refused(admin: AdminGateway) -> None:
    token = dict(admin.client.headers)

    for method in ("TRACE", "CONNECT"):
        for path in ("/", "/api/settings", "/v1/models", "/v1/chat/completions", "/api/health"):
            answer = await call_app(admin.gateway.app, path, method=method, headers=token)
            assert answer.status == 405
            assert b"gateway-cli" not in answer.body


def answer_of(received: ReceivedRequest) -> MockResponse:
    return MockResponse((REPLY,))


@pytest.fixture(scope="module", params=LOOPS)
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": answer_of}, server=request.param) as running:
        yield running


def received(
    here: Served, target: str, *lines: str, method: str = "GET", body: bytes = b""
) -> Answer:
    """Send a request over a socket, with the right host name."""
    host = here.url.removeprefix("http://")
    wire = raw_request(target.encode("latin-1"), f"Host: {host}", *lines, method=method, body=body)
    return send_raw(here.url, wire)


def token(here: Served) -> str:
    return f"X-Gateway-CLI-Token: {here.gateway.core.identity.cli_token}"


def test_other_spellings_over_a_socket(here: Served) -> None:
    for path in ("/api/settings", "/api/keys", "/api/providers"):
        for target in aliases(path):
            if " " not in target:
                assert received(here, target, FAR).status in REFUSED | {0}, target


@pytest.mark.parametrize(
    "target",
    ["/api/%", "/api/%zz", "/api/keys%c0%ae", "/api/%u002e/keys", "/api/keys%00", "/api//keys"],
)
def test_under_api_a_malformed_path_is_refused_as_json(here: Served, target: str) -> None:
    for lines in ([FAR], [token(here)], [FAR, "X-Api-Key: sk-unknown00"]):
        answer = received(here, target, *lines)
        assert answer.status == 401
        assert json.loads(answer.body)["error"] == "Unauthorized"
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("target", ["//api/keys", "/v1/../api/keys", "/v1/%zz", "/v1/a%5cb"])
def test_elsewhere_a_malformed_path_is_a_bad_request(here: Served, target: str) -> None:
    assert received(here, target, token(here)).status == 400


@pytest.mark.parametrize("target", ["*", "127.0.0.1:80", "api/settings", "?"])
def test_a_target_that_is_no_path_is_refused(here: Served, target: str) -> None:
    assert received(here, target, token(here)).status in (0, 400)


def test_of_an_absolute_url_only_the_path_is_used(here: Served) -> None:
    for address_ in ("http://evil.example/api/settings", f"{here.url}/api/settings"):
        assert received(here, address_, FAR).status in (400, 401)


def test_a_target_has_a_maximum_length(here: Served) -> None:
    assert received(here, "/v1/models?" + "a" * 9000, token(here)).status in (400, 414)
    assert received(here, "/v1/models?" + "a" * 4000, token(here)).status == 200


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Host: 127.0.0.1", "Host: 127.0.0.1"],
        ["Host: evil.example", "Host: 127.0.0.1"],
        ["Host: 127.0.0.1", "host: evil.example"],
        ["Host:"],
        ["Host: a b"],
        ["Host: 127.0.0.1/x"],
        ["Host: x@127.0.0.1"],
    ],
    ids=["none", "same", "other", "case", "empty", "space", "path", "user"],
)
def test_there_is_exactly_one_host(here: Served, lines: list[str]) -> None:
    for path in (b"/api/health", b"/v1/models", b"/api/settings"):
        assert send_raw(here.url, raw_request(path, *lines, token(here))).status == 400


def test_head_and_options_have_no_body(here: Served) -> None:
    for path in ("/api/settings", "/api/combos", "/v1/models", "/v1/chat/completions"):
        head = received(here, path, token(here), method="HEAD")
        options = received(here, path, token(here), method="OPTIONS")
        assert (head.status, head.body) == (200, b"")
        assert (options.status, options.body) == (204, b"")
        assert "allow" in options.headers
        is_for_pages = "access-control-allow-origin" in options.headers
        assert is_for_pages is path.startswith("/v1/")


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "get", "DELETE", "X"])
def test_other_methods_are_refused(here: Served, method: str) -> None:
    for path in ("/api/settings", "/v1/models", "/v1/chat/completions"):
        near = received(here, path, token(here), method=method)
        far = received(here, path, FAR, method=method)
        assert near.status in (0, 400, 405) or method == "get"
        assert far.status in (0, 400, 401, 405)
        assert b"x-gateway-cli-token" not in near.body.lower()


def test_a_method_cannot_be_overridden(here: Served) -> None:
    made = received(
        *(here, "/api/combos", token(here), "Content-Type: application/json"),
        method="POST",
        body=b'{"name": "kept", "models": ["v-openai/m"]}',
    )
    identity = json.loads(made.body)["id"]
    override = "X-HTTP-Method-Override: DELETE"

    for target in (f"/api/combos/{identity}", f"/api/combos/{identity}?_method=DELETE"):
        received(here, target, token(here), override, "X-Method-Override: DELETE")
        answer = received(here, f"/api/combos/{identity}", token(here))
        assert json.loads(answer.body)["name"] == "kept"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_no_response_is_readable_across_origins(here: Served, origin: str, method: str) -> None:
    preflight = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-api-key"]
    for path in ("/api/settings", "/api/keys", "/v1/models", "/v1/chat/completions", "/nowhere"):
        for more in ([], [token(here)], ["Cookie: auth_token=x"]):
            answer = received(here, path, f"Origin: {origin}", *preflight, *more, method=method)
            if method == "OPTIONS" and path.startswith("/v1/"):
                # What may be asked is no secret; what is answered then needs a key to be read.
                assert (answer.status, answer.body) == (204, b"")
                assert "access-control-allow-credentials" not in answer.headers
                assert "access-control-expose-headers" not in answer.headers
                continue
            assert not any(name.startswith("access-control-") for name in answer.headers)


def test_only_the_manifest_is_readable_across_origins(here: Served) -> None:
    for path in ("/v1/provider-plugin-manifest", "/api/v1/provider-plugin-manifest"):
        answer = received(here, path, "Origin: https://evil.example", FAR)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "forged",
    [
        ["x-gateway-real-ip: 127.0.0.1", f"x-gateway-peer-token: {'00' * 24}"],
        ["X_Gateway_Real_IP: 127.0.0.1"],
        ["X-Gateway-Real-IP: ::1", "X-Gateway-Real-IP: 127.0.0.1"],
        ["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"],
        ["Forwarded: for=127.0.0.1"],
    ],
    ids=["both", "underscores", "twice", "more", "forwarded"],
)
def test_forged_headers_have_no_effect(here: Served, forged: list[str]) -> None:
    for path, method in (("/v1/models", "GET"), ("/api/keys", "GET"), ("/api/settings", "PATCH")):
        plain = received(here, path, FAR, method=method)
        helped = received(here, path, *forged, FAR, method=method)
        assert (plain.status, helped.status) == (401, 401)
        assert json.loads(plain.body)["error"] == json.loads(helped.body)["error"]


@pytest.mark.parametrize("lines", [["X-Gateway-Via-Proxy: 1"], ["x_gateway_via_proxy: 0"]])
def test_a_request_with_proxy_headers_is_not_local(here: Served, lines: list[str]) -> None:
    assert received(here, "/v1/models").status == 200
    assert received(here, "/v1/models", *lines).status == 401


def test_ids_are_the_gateways_own(here: Served) -> None:
    seen = set()
    mine = "11111111-2222-4333-8444-555555555555"
    for path, method in (
        *(("/api/health", "GET"), ("/v1/models", "GET"), ("/api/none", "GET")),
        *(("/v1/none", "GET"), ("/api/%zz", "GET"), ("/v1//", "GET"), ("/api/settings", "GET")),
        *(("/v1/chat/completions", "POST"), ("/v1/chat/completions", "OPTIONS")),
        *(("/api/settings", "OPTIONS"), ("/api/settings", "DELETE")),
    ):
        answer = received(here, path, f"X-Request-Id: {mine}", token(here), method=method)
        seen.add(answer.headers["x-request-id"])

    assert len(seen) == 11
    assert mine not in seen
    assert {len(each) for each in seen} == {36}
