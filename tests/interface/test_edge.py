"""HTTP/1.1 on the wire, byte by byte (S01, S02, S05, S25)."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import psutil
import pytest
from certificates import issue
from gateway_process import Running, running
from raw_http import (
    CHAT,
    HOST,
    chat,
    connect,
    read_response,
    request,
    send_and_read,
    send_bytes,
    sized,
)

from gateway_cli.event_loop import LOOPS
from gateway_core.config.data_dir import DataDir
from gateway_core.identity.credentials import CLI_HEADER, cli_token

OVER = 4.0
"""Seconds within which a refusal must come: well before the time limits of heads and bodies."""
MIB = 1024 * 1024
MOST = 200
"""Connections."""
CHUNKED = b"Transfer-Encoding: chunked"
HEALTH = request("GET /api/health")


PLACES = [f"{name}{over}" for over in ("", " over TLS") for name in LOOPS]


@pytest.fixture(scope="module", params=PLACES)
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    variables = {"GATEWAY_MAX_BODY_MB": "4", "GATEWAY_MAX_CONNECTIONS": str(MOST)}
    data_dir = tmp_path_factory.mktemp("edge")
    name, _, is_secure = request.param.partition(" ")
    tls = issue(data_dir).options if is_secure else ()
    with running(data_dir, "--loop", name, *tls, variables=variables) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def operator(here: Running) -> bytes:
    """The header with the CLI token."""
    owned = DataDir(Path(psutil.Process(here.process.pid).environ()["DATA_DIR"]))
    return f"{CLI_HEADER}: {cli_token(owned.raw_machine_id(), owned.cli_secret())}".encode()


LENGTHS = {
    "two different": (b"Content-Length: 5", b"Content-Length: 6"),
    "two equal": (b"Content-Length: 5", b"Content-Length: 5"),
    "with a sign": (b"Content-Length: +5",),
    "a list": (b"Content-Length: 5,5",),
    "hexadecimal": (b"Content-Length: 0x5",),
    "negative": (b"Content-Length: -1",),
    "two numbers": (b"Content-Length: 5 5",),
    "thirty digits": (b"Content-Length: " + b"9" * 30,),
    "empty": (b"Content-Length: ",),
    "beside chunks": (b"Content-Length: 5", CHUNKED),
    "chunks beside it": (CHUNKED, b"Content-Length: 5"),
    "gzip and chunks": (b"Transfer-Encoding: gzip, chunked",),
    "chunks twice": (CHUNKED, CHUNKED),
    "another coding": (b"Transfer-Encoding: identity",),
}


@pytest.mark.parametrize("headers", LENGTHS.values(), ids=LENGTHS.keys())
def test_an_unclear_length_is_refused_and_closes(here: Running, headers: tuple[bytes, ...]) -> None:
    response = send_and_read(here.url, chat(*headers))

    assert response.statuses == [400]
    assert response.closed
    assert response.seconds < OVER


CHUNKS = {
    "a size that is no number": b"zz\r\n{}\r\n0\r\n\r\n",
    "nine digits": b"000000002\r\n{}\r\n0\r\n\r\n",
    "a long extension": b"2;" + b"a" * 257 + b"\r\n{}\r\n0\r\n\r\n",
    "a wrong end": b"2\r\n{}XX0\r\n\r\n",
    "a bare line feed": b"2\n{}\r\n0\r\n\r\n",
    "endless trailers": b"2\r\n{}\r\n0\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
}


@pytest.mark.parametrize("cut", [0, 3], ids=["in one piece", "in two"])
@pytest.mark.parametrize("body", CHUNKS.values(), ids=CHUNKS.keys())
def test_bad_chunks_are_refused_and_close(here: Running, body: bytes, cut: int) -> None:
    head = chat(CHUNKED, body=b"")

    with connect(here.url) as peer:
        send_bytes(peer, head + body[:cut])
        early = read_response(peer, 0.05 if cut else 0)
        send_bytes(peer, body[cut:])
        late = read_response(peer, 5)

    assert early.statuses + late.statuses == [400]
    assert late.closed
    assert late.seconds < OVER


def test_good_chunks_are_served_and_their_trailers_dropped(here: Running) -> None:
    body = b"%x;note=1\r\n%b\r\n0\r\nX-Api-Key: sk-wrong\r\n\r\n" % (len(CHAT), CHAT)

    with connect(here.url) as peer:
        send_bytes(peer, chat(CHUNKED, body=body))
        first = read_response(peer, 10, until=b'"usage"')
        send_bytes(peer, HEALTH)
        second = read_response(peer, 10, until=b"true}")

    assert (first.status, second.status) == (200, 200)


HEADS = {
    "a long request line": (request("GET /" + "a" * 16384), 414),
    "an endless request line": (b"GET /" + b"a" * 65536, 414),
    "a long header": (request("GET /", b"A: " + b"a" * 65536), 431),
    "a header over 8 KiB": (request("GET /", b"A: " + b"a" * 8190), 431),
    "endless headers": (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10_000, 431),
    "500 headers": (request("GET /", *[b"A: b"] * 500), 431),
    "40 KiB of headers": (request("GET /", *[b"A: " + b"a" * 8000] * 5), 431),
    "a NUL": (request("GET /", b"A: b\0c"), 400),
    "a bare CR": (request("GET /", b"A: b\rc"), 400),
    "a bare LF": (request("GET /", b"A: b\nc"), 400),
    "a space in a name": (request("GET /", b"A b: c"), 400),
    "a space before a colon": (request("GET /", b"A : c"), 400),
    "a folded line": (request("GET /", b"A: b\r\n c"), 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (request("GET /", b"Host: 127.0.0.1"), 400),
    "a host that is none": (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    "another origin's target": (request("GET http://other/api/health"), 400),
    "two slashes": (request("GET //api/health"), 400),
    "a backslash": (request("GET /api\\health"), 400),
    "no slash": (request("GET api/health"), 400),
    "a star": (request("GET *"), 400),
    "a byte over ASCII": (request("GET /\xff"), 400),
    "a WebSocket": (
        request("GET /v1/responses", b"Upgrade: websocket", b"Connection: upgrade"),
        400,
    ),
    "another version": (b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", 400),
    "no version": (b"GET /\r\n\r\n", 400),
    "HTTP/2 at once": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "TRACE": (request("TRACE /"), 405),
    "CONNECT": (request("CONNECT 127.0.0.1:1"), 405),
    "a small method": (request("get /api/health"), 400),
}


@pytest.mark.parametrize(("raw", "status"), HEADS.values(), ids=HEADS.keys())
def test_a_bad_head_is_refused_and_closes(here: Running, raw: bytes, status: int) -> None:
    response = send_and_read(here.url, raw)

    assert response.statuses == [status]
    assert response.closed
    assert response.seconds < OVER
    assert here.process.poll() is None


def test_a_refusal_contains_nothing_about_the_server(here: Running) -> None:
    response = send_and_read(here.url, request("GET /", b"A: b\0c"))

    head, _, body = response.data.partition(b"\r\n\r\n")
    assert body == b'{"error":"The request is malformed"}'
    assert b"server:" not in head.lower()
    assert b"x-content-type-options: nosniff" in head
    assert len(re.findall(rb"\r\ndate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT(?=\r\n|$)", head)) == 1


def test_no_answer_names_the_server(here: Running) -> None:
    response = send_and_read(here.url, HEALTH, within=5, until=b"true}")

    assert response.status == 200
    assert b"server:" not in response.data.lower()


def test_cookies_may_be_longer_than_other_headers(here: Running) -> None:
    fits = send_and_read(
        here.url, request("GET /api/health", b"Cookie: " + b"a" * 12_000), until=b"true}"
    )
    not_so = send_and_read(here.url, request("GET /api/health", b"Cookie: " + b"a" * 17_000))

    assert (fits.status, not_so.status) == (200, 431)


def test_a_head_may_come_byte_by_byte(here: Running) -> None:
    response = send_and_read(here.url, *[bytes([byte]) for byte in HEALTH], until=b"true}")

    assert response.status == 200


def test_an_upgrade_to_http_2_is_ignored(here: Running) -> None:
    upgrade = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk")

    response = send_and_read(here.url, request("GET /api/health", *upgrade), HEALTH)

    assert response.statuses == [200]
    assert response.data.endswith(b'{"ok":true}')
    assert response.closed


def test_an_absolute_url_with_our_host_is_served(here: Running) -> None:
    response = send_and_read(
        here.url, request("GET http://127.0.0.1/api/health?x=1"), until=b"true}"
    )

    assert response.status == 200


def test_requests_may_follow_each_other_without_waiting(here: Running) -> None:
    with connect(here.url) as peer:
        send_bytes(peer, sized() + HEALTH)
        response = read_response(peer, 10, until=b'{"ok":true}')

    assert response.statuses == [200, 200]
    assert response.data.endswith(b'{"ok":true}')


def test_a_bad_request_behind_a_good_one_is_not_served(here: Running) -> None:
    bad = chat(CHUNKED, b"Content-Length: 3", body=b"2\r\n{}\r\n0\r\n\r\n")

    response = send_and_read(here.url, sized() + bad)

    assert 200 not in response.statuses[1:]
    assert response.closed


@pytest.mark.parametrize("path", ["/api/keys", "/v1/models", "/v1/chat/completions", "/api/health"])
def test_head_has_no_body(here: Running, path: str) -> None:
    with connect(here.url) as peer:
        send_bytes(peer, request(f"HEAD {path}"))
        response = read_response(peer, 10, until=b"\r\n\r\n")
        send_bytes(peer, HEALTH)
        after = read_response(peer, 10, until=b"true}")

    assert response.body == b""
    assert after.data.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", ["/api/keys", "/v1/chat/completions"])
@pytest.mark.parametrize("method", ["OPTIONS", "PROPFIND", "POST"])
def test_a_method_is_what_the_request_line_says(here: Running, path: str, method: str) -> None:
    override = (b"X-HTTP-Method-Override: DELETE", b"Content-Length: 0")

    response = send_and_read(
        here.url, request(f"{method} {path}?_method=DELETE", *override), within=0.3
    )

    assert response.status in (200, 204, 400, 401, 403, 405, 415)
    if method == "OPTIONS":
        assert response.body in (b"",) or response.status == 401


BODIES = {
    "inference": ("/v1/chat/completions", 4 * MIB),
    "management": ("/api/keys", MIB),
}


@pytest.fixture
def memory(here: Running) -> psutil.Process:
    return psutil.Process(here.process.pid)


def head_of(path: str, *headers: bytes) -> bytes:
    return request(f"POST {path}", b"Content-Type: application/json", *headers)


@pytest.mark.parametrize(("path", "limit"), BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_announced_too_large_is_not_read(
    here: Running, operator: bytes, path: str, limit: int
) -> None:
    for length in (limit + 1, 10 * 1024**3):
        response = send_and_read(
            here.url, head_of(path, operator, b"Content-Length: %d" % length), b"{"
        )

        assert response.statuses == [413]
        assert response.seconds < OVER


@pytest.mark.parametrize(("path", "limit"), BODIES.values(), ids=BODIES.keys())
def test_a_chunked_body_ends_at_the_limit(
    here: Running, operator: bytes, memory: psutil.Process, path: str, limit: int
) -> None:
    before = memory.memory_info().rss
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"

    with connect(here.url) as peer:
        send_bytes(peer, head_of(path, operator, CHUNKED), *[piece] * (limit // 65536 + 64))
        response = read_response(peer, 10)

    assert response.status == 413
    assert memory.memory_info().rss - before < limit + 16 * MIB


def test_an_unread_body_does_not_block_its_connection(here: Running) -> None:
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"

    response = send_and_read(here.url, head_of("/api/keys", CHUNKED), *[piece] * 80, within=10)

    assert response.status == 401
    assert response.closed


def test_the_refusal_of_a_large_body_reaches_a_client_that_sends_all_of_it(here: Running) -> None:
    with httpx2.Client(trust_env=False, timeout=20, verify=False) as client:
        response = client.post(f"{here.url}/v1/chat/completions", json={"model": "x" * (8 * MIB)})

    assert response.status_code == 413


def test_excess_connections_are_refused_and_others_served(here: Running) -> None:
    peers, early = [], 0
    with ExitStack() as stack:
        for _ in range(MOST + 20):
            try:
                peers.append(stack.enter_context(connect(here.url)))
            except OSError:  # Over TLS it is turned away before it is there.
                early += 1
        send_bytes(peers[0], HEALTH)
        served = read_response(peers[0], 5, until=b"true}")
        turned = [peer for peer in peers if read_response(peer, 0.001).closed]

    assert served.status == 200
    # Connections of other tests may still be there.
    assert 20 <= len(turned) + early < 40
    # They are gone at this end; the other end hears of it a little later.
    assert any(is_served(here) for _ in range(1000))


def is_served(here: Running) -> bool:
    try:
        return send_and_read(here.url, HEALTH, until=b"true}").status == 200
    except OSError:
        return False


def test_an_http_1_0_client_gets_a_stream_that_ends_with_the_connection(
    here: Running, operator: bytes
) -> None:
    streamed = CHAT.replace(b'{"model"', b'{"stream":true,"model"')
    # Nobody vouches for a caller over HTTP/1.0, which may be a reverse proxy.
    received = sized(streamed).replace(b"HTTP/1.1\r\n", b"HTTP/1.0\r\n" + operator + b"\r\n", 1)

    response = send_and_read(here.url, received)

    assert response.status == 200
    assert response.closed
    assert b"transfer-encoding" not in response.data
    assert response.body.startswith(b"data: {")
    assert response.body.endswith(b"data: [DONE]\n\n")
