"""Bodies, models, routes and callers that the chat endpoints refuse, in the client's format."""

import json
import socket
from typing import Any

import httpx2
import pytest
from chat_endpoints import BODIES, GPT_VENDOR, PATHS, UUID, post
from fake_vendor import MockResponse
from served_gateway import Served
from translation_runs import WIRES

from gateway_core.pipeline.exchanges import client_side
from gateway_core.upstream.endpoints import vendor_side


@pytest.mark.parametrize("wire", ["openai", "claude"])
@pytest.mark.parametrize("kind", ["text/plain", "", "multipart/form-data; boundary=x"])
def test_a_body_that_is_not_json_by_its_type_is_refused_unread(
    here: Served, http: httpx2.Client, wire: str, kind: str
) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = http.post(here.url + PATHS[wire], content=b"{}", headers=headers)

    assert answer.status_code == 415


@pytest.mark.parametrize("wire", PATHS)
@pytest.mark.parametrize(
    "body",
    [b"", b"nope", b"[]", b'{"model": 5}', b'{"a":' * 100_000, b'"text"', b"\xff\xfe{}"],
    ids=["empty", "nope", "list", "number", "deep", "string", "not-utf8"],
)
def test_a_bad_body_is_a_400_in_the_clients_own_shape(
    here: Served, http: httpx2.Client, wire: str, body: bytes
) -> None:
    answer = http.post(
        here.url + PATHS[wire], content=body, headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
    error_of(wire, answer)


def error_of(wire: str, answer: httpx2.Response) -> str:
    """The error's text in the client's format; also checks the request's id."""
    document = answer.json()
    request_id = answer.headers["x-request-id"]
    assert UUID.fullmatch(request_id)
    if wire == "ollama":
        assert document["request_id"] == request_id
        return str(document["error"])
    if wire == "claude":
        assert document["type"] == "error"
        assert document["request_id"] == request_id
    else:
        assert document["error"]["request_id"] == request_id
    if wire == "gemini":
        assert document["error"]["code"] == answer.status_code
    return str(document["error"]["message"])


@pytest.mark.parametrize("wire", PATHS)
def test_the_vendors_request_id_is_passed_on_beside_our_own(
    here: Served, http: httpx2.Client, wire: str
) -> None:
    GPT_VENDOR.say = lambda _: MockResponse(
        (b'{"error":{"message":"no such thing","type":"invalid_request_error","code":"x"}}',),
        status=400,
        headers={"x-request-id": "req_vendor-1"},
    )

    answer = http.post(
        here.url + PATHS[wire], json=BODIES[wire], headers={"x-request-id": "from-the-client"}
    )

    assert answer.status_code == 400
    assert "no such thing" in error_of(wire, answer)
    document = answer.json()
    flat = wire in ("claude", "ollama")
    assert (document if flat else document["error"])["upstream_request_id"] == "req_vendor-1"


@pytest.mark.parametrize("wire", PATHS)
def test_a_missing_model_is_reported(here: Served, http: httpx2.Client, wire: str) -> None:
    if wire in ("gemini", "ollama"):  # the path names it; the local model server has a default
        return
    body = {name: value for name, value in BODIES[wire].items() if name != "model"}
    answer = http.post(here.url + PATHS[wire], json=body)

    assert answer.status_code == 400
    assert "Missing model" in error_of(wire, answer)


def test_a_body_over_the_limit_is_refused_before_it_is_read(here: Served) -> None:
    port = int(here.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            b"content-type: application/json\r\ncontent-length: 10737418240\r\n\r\n{"
        )
        answer = client.recv(4096)

    assert b" 413 " in answer.split(b"\r\n")[0]


def test_a_compressed_body_is_read(here: Served, http: httpx2.Client) -> None:
    import gzip

    body = gzip.compress(json.dumps(BODIES["openai"]).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = http.post(here.url + PATHS["openai"], content=body, headers=headers)

    assert answer.status_code == 200


def test_a_compression_bomb_is_not_inflated(here: Served, http: httpx2.Client) -> None:
    import gzip

    body = gzip.compress(b" " * 20_000_000)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = http.post(here.url + PATHS["openai"], content=body, headers=headers)

    assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/chat", "/v1/v1/nope", "/api/v1/nope"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PATCH"])
def test_an_unknown_route(here: Served, http: httpx2.Client, path: str, method: str) -> None:
    answer = http.request(method, here.url + path)

    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("not_found", "unknown_route")
    assert error["path"].startswith("/v1")
    assert error.keys() == {"type", "code", "path", "request_id"}


SPEECHLESS = (
    *(b"", b"{}", b"[]", b"null", b"<html></html>", b'{"error":{}}', b'{"error":""}'),
    b'{"error":null}',
    b'{"error":{"message":""}}',
    b'{"error":{"message":null,"code":1}}',
    b'{"error":{"message":" \\n"}}',
    b'{"message":"","detail":""}',
    b'{"type":"error","error":{"type":"api_error","message":""}}',
    b'{"type":"error","error":{"type":"api_error"}}',
)


@pytest.mark.parametrize("vendor", WIRES)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("body", SPEECHLESS)
def test_an_error_has_a_message_even_if_the_vendor_gives_none(
    vendor: str, status: int, body: bytes
) -> None:
    error = vendor_side(WIRES[vendor]).read_error(status, {}, body)

    for wire in WIRES.values():
        reported = json.loads(client_side(wire).write_error(error, "id"))
        written = (
            reported["error"]
            if isinstance(reported["error"], str)
            else reported["error"]["message"]
        )
        assert written.strip(), (wire.id, reported)


@pytest.mark.parametrize("wire", PATHS)
def test_probes(here: Served, http: httpx2.Client, wire: str) -> None:
    url = here.url + PATHS[wire]

    assert http.options(url).status_code == 204
    head = http.head(url)
    assert (head.status_code, head.content) == (200, b"")
    assert http.get(url).status_code == 405


@pytest.mark.parametrize("wire", ["openai", "claude", "gemini", "openai-responses"])
@pytest.mark.parametrize("member", ["base_url", "api_base", "baseUrl", "user_config", "extra_body"])
def test_the_request_never_chooses_where_it_goes(
    here: Served, http: httpx2.Client, wire: str, member: str
) -> None:
    before = len(here.vendors["claude"].received)
    elsewhere = here.vendors["claude"].url
    value: Any = {"api_base": elsewhere} if member in ("user_config", "extra_body") else elsewhere

    http.post(here.url + PATHS[wire], json={**BODIES[wire], member: value})

    assert len(here.vendors["claude"].received) == before


def test_the_admission_probe(here: Served, http: httpx2.Client) -> None:
    async def require(wanted: bool) -> None:
        await here.gateway.core.stores.settings.patch({"requireApiKey": wanted})
        await here.gateway.core.refresh()

    url = f"{here.url}/v1/realtime/auth"
    open_answer = http.get(url)
    remote = [
        http.get(url, headers={"x-forwarded-for": "192.0.2.7", **headers})
        for headers in ({}, {"authorization": "Bearer sk-x"})
    ]
    here.do(require(True))
    try:
        missing, invalid = http.get(url), http.get(url, headers={"authorization": "Bearer sk-x"})
        chat = post(http, here, "openai")
    finally:
        here.do(require(False))

    assert open_answer.json() == {"ok": True}
    assert (missing.status_code, invalid.status_code, chat.status_code) == (401, 401, 401)
    assert missing.json()["error"] == {
        "message": "Missing API key",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }
    assert invalid.json()["error"]["message"] == "Invalid API key"
    assert [(each.status_code, each.json()) for each in remote] == [
        (401, missing.json()),
        (401, invalid.json()),
    ]
