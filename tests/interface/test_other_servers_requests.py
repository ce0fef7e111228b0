"""What an embedded gateway refuses, and what it takes, before other servers (4.2, 5.1)."""

import base64
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from chat_endpoints import BODIES, GPT, PATHS, UUID
from fake_vendor import MockResponse
from msgspec.structs import force_setattr
from other_servers import OVER_HTTP_1, SERVERS, Guest, embedded, until
from raw_http import read_response, send_bytes

from gateway_core.identity.credentials import CLI_HEADER

CHAT = PATHS["openai"]
JSON = {"content-type": "application/json"}
MIB = 1024 * 1024
IMAGE = base64.b64encode(bytes(range(256)) * 4 * 10 * 1024).decode()
"""Of ten megabytes."""


@pytest.fixture(scope="module", params=SERVERS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    folder = tmp_path_factory.mktemp("guest")
    limit = {"GATEWAY_MAX_BODY_MB": "16"}
    with embedded(
        request.param, folder, {"openai": lambda received: MockResponse((GPT,))}, variables=limit
    ) as guest:
        yield guest


@pytest.fixture
def guest(place: Guest, caplog: pytest.LogCaptureFixture) -> Iterator[Guest]:
    """In the end nothing is under way, and no server has had to complain."""
    yield place
    until(lambda: not place.here.gateway.core.in_flight)
    loud = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert not loud, [each.getMessage() for each in loud]


@pytest.fixture
def http(guest: Guest) -> Iterator[httpx2.Client]:
    with guest.client() as client:
        yield client


@pytest.fixture
def needing_keys(guest: Guest) -> Iterator[None]:
    async def require(wanted: bool) -> None:
        await guest.here.gateway.core.stores.settings.patch({"requireApiKey": wanted})
        await guest.here.gateway.core.refresh()

    guest.here.do(require(True))
    yield
    guest.here.do(require(False))


@pytest.mark.parametrize("wire", ["openai", "claude"])
@pytest.mark.parametrize("body", [b"", b"nope", b"[]", b'{"model": 5}', b"\xff"])
def test_a_bad_body_is_refused(http: httpx2.Client, wire: str, body: bytes) -> None:
    reported = http.post(PATHS[wire], content=body, headers=JSON)

    assert reported.status_code == 400
    assert UUID.fullmatch(reported.headers["x-request-id"])
    assert reported.headers["x-request-id"] in reported.text
    assert wire == "openai" or reported.json()["type"] == "error"


def test_another_media_type_is_refused(http: httpx2.Client) -> None:
    reported = http.post(CHAT, content=b"{}", headers={"content-type": "text/plain"})

    assert reported.status_code == 415


@OVER_HTTP_1
@pytest.mark.parametrize(("path", "status"), [(CHAT, 413), ("/v1/nothing", 404)])
def test_a_refusal_does_not_wait_for_a_body(guest: Guest, path: str, status: int) -> None:
    with guest.call() as peer:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        send_bytes(peer, f"{head}Content-Length: 9999999999\r\n\r\n{{".encode())
        heard = read_response(peer, 5, until=b"}")

    assert heard.status == status
    assert heard.seconds < 2


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536):
        yield b" " * 65536


@pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "in pieces"])
def test_a_body_over_the_limit_is_refused(
    guest: Guest, http: httpx2.Client, is_announced: bool
) -> None:
    before = len(guest.here.rows())
    size = 17 * MIB
    headers = {**JSON, "content-length": str(size)} if is_announced else JSON
    reported = http.post(CHAT, content=pieces(size), headers=headers)

    assert reported.status_code == 413
    assert "x-request-id" in reported.headers

    until(lambda: not guest.here.gateway.core.in_flight)
    row = guest.here.rows()[0]
    assert len(guest.here.rows()) == before + 1
    assert (row.status, row.http_status) == ("error", 413)


@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/api/keys", "/v1/models", "/nothing", "/v1/chat/completions"]
)
def test_a_body_that_nobody_reads_holds_nobody(
    http: httpx2.Client, needing_keys: None, path: str
) -> None:
    method = "PUT" if path == CHAT else "POST"
    reported = http.request(method, path, content=pieces(4 * MIB), headers=JSON)
    after = http.get("/api/health")

    assert 400 <= reported.status_code < 500
    assert after.json() == {"ok": True}


@pytest.mark.parametrize("how", ["sized", "in pieces"])
def test_a_long_picture_reaches_the_vendor_as_it_is(
    guest: Guest, http: httpx2.Client, how: str
) -> None:
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    body = {"model": "v-openai/m", "messages": [{"role": "user", "content": [url]}]}
    whole = json.dumps(body).encode()
    content = whole if how == "sized" else (whole[at : at + 60_000] for at in count(len(whole)))

    reported = http.post(CHAT, content=content, headers=JSON)

    assert (reported.status_code, reported.content) == (200, GPT)
    received = guest.here.vendors["openai"].received[-1]
    assert received.json() == {**body, "model": "m"}


def count(size: int) -> range:
    return range(0, size, 60_000)


def test_a_body_in_pieces_is_read(http: httpx2.Client) -> None:
    whole = json.dumps(BODIES["openai"]).encode()

    reported = http.post(CHAT, content=iter([whole[:9], whole[9:40], whole[40:]]), headers=JSON)

    assert (reported.status_code, reported.content) == (200, GPT)


@pytest.mark.parametrize("wire", ["openai", "claude"])
def test_who_shows_no_key_is_refused(http: httpx2.Client, needing_keys: None, wire: str) -> None:
    nobody = http.post(PATHS[wire], json=BODIES[wire])
    stranger = http.post(PATHS[wire], json=BODIES[wire], headers={"x-api-key": "sk-12345678"})
    unread = http.post(PATHS[wire], content=b"{", headers=JSON)

    assert (nobody.status_code, stranger.status_code) == (401, 401)
    assert "Missing API key" in nobody.text
    assert "Invalid API key" in stranger.text
    assert unread.status_code in (400, 401)
    assert nobody.headers["x-request-id"] in nobody.text


def test_a_key_that_is_paused_is_refused_from_then_on(
    guest: Guest, http: httpx2.Client, needing_keys: None
) -> None:
    shown = {CLI_HEADER: guest.here.gateway.core.identity.cli_token}
    key = http.post("/api/keys", json={"name": "a", "machineId": "b"}, headers=shown).json()
    bearer = {"authorization": f"Bearer {key['key']}"}

    before = [http.post(CHAT, json=BODIES["openai"], headers=bearer) for _ in range(3)]
    http.put(f"/api/keys/{key['id']}", json={"isActive": False}, headers=shown)
    after = http.post(CHAT, json=BODIES["openai"], headers=bearer)

    assert [reported.status_code for reported in before] == [200, 200, 200]
    assert after.status_code == 401


@pytest.mark.parametrize("how", ["deleted", "narrowed", "expired"])
def test_a_key_that_changes_is_judged_anew(
    guest: Guest, http: httpx2.Client, needing_keys: None, how: str
) -> None:
    identity = guest.here.gateway.core.identity
    shown = {CLI_HEADER: identity.cli_token}
    new = {"name": "a", "machineId": "b", "expiresAt": "2031-01-01T00:00:00Z"}
    key = http.post("/api/keys", json=new, headers=shown).json()
    bearer, clock = {"authorization": f"Bearer {key['key']}"}, identity.clock

    before = [http.post(CHAT, json=BODIES["openai"], headers=bearer) for _ in range(3)]
    try:
        if how == "deleted":
            http.delete(f"/api/keys/{key['id']}", headers=shown)
        elif how == "narrowed":
            rules = {"allowedModels": ["v-openai/other"]}
            http.put(f"/api/keys/{key['id']}", json=rules, headers=shown)
        else:
            force_setattr(identity, "clock", lambda: 1_930_000_000.0)
        after = http.post(CHAT, json=BODIES["openai"], headers=bearer)
    finally:
        force_setattr(identity, "clock", clock)

    assert [reported.status_code for reported in before] == [200, 200, 200]
    assert after.status_code == (403 if how == "narrowed" else 401)


@OVER_HTTP_1
@pytest.mark.parametrize("known", [False, True], ids=["new head", "known head"])
@pytest.mark.parametrize("sent", [0, 40, -1], ids=["head", "half", "all but one byte"])
def test_a_client_that_leaves_before_its_body_is_whole_is_noted(
    guest: Guest, known: bool, sent: int
) -> None:
    vendor, whole = guest.here.vendors["openai"], json.dumps(BODIES["openai"]).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(whole)}\r\n\r\n"
    with guest.call() as peer:
        for _ in range(2 * known):
            send_bytes(peer, head.encode() + whole)
            assert read_response(peer, 5, until=GPT).status == 200
        until(lambda: not guest.here.gateway.core.in_flight)
        seen, received = {row.request_id for row in guest.here.rows()}, len(vendor.received)
        send_bytes(peer, head.encode() + whole[:sent])
        read_response(peer, 0.02)

    def new() -> list[Any]:
        return [row for row in guest.here.rows() if row.request_id not in seen]

    until(lambda: bool(new()))
    [row] = new()
    assert (row.status, row.http_status, row.attempts) == ("client_gone", 499, 0)
    assert len(vendor.received) == received


@OVER_HTTP_1
@pytest.mark.parametrize("host", ["a/b", "", "127.0.0.1:x", "a b"])
def test_a_host_that_is_none_is_refused(guest: Guest, host: str) -> None:
    with guest.call() as peer:
        send_bytes(peer, f"GET /api/health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        heard = read_response(peer, 5, until=b"}")

    assert heard.status == 400


def test_a_page_elsewhere_is_no_operator_by_its_name(guest: Guest, http: httpx2.Client) -> None:
    """Its name may lead to this machine (DNS rebinding)."""
    reported = http.get("/api/keys", headers={"host": "rebound.example"})

    assert reported.status_code == 401


@pytest.mark.parametrize("header", ["x-forwarded-for", "x-real-ip", "forwarded", "via"])
def test_who_comes_through_a_proxy_is_not_local(http: httpx2.Client, header: str) -> None:
    here = http.get("/api/keys")
    far = http.get("/api/keys", headers={header: "127.0.0.1"})

    assert far.status_code == 401
    assert here.status_code in (200, 401)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/chat", "/api/v1/nope"])
def test_a_path_that_nobody_serves(http: httpx2.Client, path: str, method: str) -> None:
    reported = http.request(method, path)

    assert reported.status_code == 404
    assert reported.json()["error"]["code"] == "unknown_route"
    assert UUID.fullmatch(reported.headers["x-request-id"])


@OVER_HTTP_1
@pytest.mark.parametrize(
    "path", ["//v1/models", "/v1/../api/keys", "/v1/%2e%2e/x", "/v1/a%00b", "/v1/a%5cb"]
)
def test_a_path_that_could_mean_two_things_is_refused(guest: Guest, path: str) -> None:
    with guest.call() as peer:
        send_bytes(peer, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        heard = read_response(peer, 5, until=b"}")

    assert heard.status in (400, 401)


@pytest.mark.parametrize("wire", ["openai", "claude"])
def test_another_method_is_told_which_there_are(http: httpx2.Client, wire: str) -> None:
    reported = http.get(PATHS[wire])
    probe = http.options(PATHS[wire])
    head = http.head(PATHS[wire])

    assert (reported.status_code, probe.status_code, head.status_code) == (405, 204, 200)
    assert reported.headers["allow"] == probe.headers["allow"] == "POST, OPTIONS"
    assert reported.json()["error"]


@OVER_HTTP_1
@pytest.mark.parametrize("path", ["/api/health", "/v1/models", "/v1/nothing", "/v1/messages"])
def test_a_head_has_no_body_and_its_connection_goes_on(guest: Guest, path: str) -> None:
    with guest.call() as peer:
        for _ in range(2):
            send_bytes(peer, f"HEAD {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            heard = read_response(peer, 5, until=b"\r\n\r\n")
            assert heard.status in (200, 404)
            assert heard.body == b""
        send_bytes(peer, b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        after = read_response(peer, 5, until=b"true}")

    assert after.statuses == [200]


def test_each_answer_has_an_id_of_its_own(http: httpx2.Client) -> None:
    shown = {"x-request-id": "from-the-client"}
    reported = [http.post(CHAT, json=BODIES["openai"], headers=shown) for _ in range(5)]
    ids = {each.headers["x-request-id"] for each in reported}

    assert len(ids) == 5
    assert all(re.fullmatch(UUID, each) for each in ids)
    assert {each.headers["x-content-type-options"] for each in reported} == {"nosniff"}
    assert {each.headers["cache-control"] for each in reported} == {"no-store"}


def test_heads_that_differ_in_one_thing_are_told_apart(
    guest: Guest, http: httpx2.Client, needing_keys: None
) -> None:
    owner = {CLI_HEADER: guest.here.gateway.core.identity.cli_token}
    key = http.post("/api/keys", json={"name": "a", "machineId": "b"}, headers=owner).json()["key"]
    good, bad = {"authorization": f"Bearer {key}"}, {"authorization": f"Bearer {key}x"}
    shown: Any = (good, bad, good, {}, good, {"x-api-key": key}, {"x-api-keys": key})
    reported = [http.post(CHAT, json=BODIES["openai"], headers=headers) for headers in shown]
    typed = http.post(CHAT, content=b"{}", headers={**good, "content-type": "text/plain"})
    proxied = http.post(CHAT, json=BODIES["openai"], headers={"x-forwarded-for": "127.0.0.1"})

    assert [each.status_code for each in reported] == [200, 401, 200, 401, 200, 200, 401]
    assert typed.status_code == 415
    assert proxied.status_code == 401
