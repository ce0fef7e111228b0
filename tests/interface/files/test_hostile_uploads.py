"""Clients that send uploads wrongly, slowly or not to their end."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from file_forms import FORM, field, file, form, new_key
from gateway_process import running
from raw_http import HOST, connect, read_response, send_and_read, send_bytes
from served_gateway import Served, serve_gateway

from gateway_files.upload import MOST_UPLOADS

FILES = "/v1/files"
Clients = Callable[..., httpx2.Client]
MIB = 1024 * 1024
BODY = form(file(b"x" * 2 * MIB))
PATIENCE = 10.0


@pytest.fixture
def roomless(tmp_path: Path) -> Iterator[Served]:
    """A gateway with room for one upload."""
    with serve_gateway(tmp_path, {}, variables={"FILE_QUOTA_BYTES": str(3 * MIB)}) as here:
        yield here


def head(length: int, headers: dict[str, str]) -> bytes:
    lines = {**FORM, **headers, "content-length": str(length)}
    rest = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return b"POST /v1/files HTTP/1.1\r\n" + HOST + rest.encode() + b"\r\n"


def parts(here: Served) -> list[Path]:
    # With a store there need not be a folder for them.
    return list((here.gateway.core.data_dir.path / "files" / ".parts").glob("*"))


def wait_for(reached: Callable[[], bool]) -> None:
    """Poll for what happens in the gateway's thread."""
    until = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_client_that_leaves_takes_its_upload_with_it(roomless: Served, clients: Clients) -> None:
    key = new_key(roomless)
    for _ in range(3):
        with connect(roomless.url) as peer:
            peer.sendall(head(len(BODY), key) + BODY[: MIB * 3 // 2])
            wait_for(lambda: len(parts(roomless)) == 1)
        wait_for(lambda: parts(roomless) == [])

    made = clients(roomless, key).post(FILES, content=BODY, headers=FORM)

    assert made.status_code == 200


def test_a_client_that_stops_sending_is_cut_off(tmp_path: Path) -> None:
    with running(tmp_path, variables={"GATEWAY_BODY_TIMEOUT_MS": "500"}) as gateway:
        folder = tmp_path / "files" / ".parts"
        with connect(gateway.url) as peer:
            peer.sendall(head(len(BODY), {}) + BODY[:MIB])
            wait_for(lambda: len(list(folder.iterdir())) == 1)

            answer = read_response(peer, PATIENCE)

        assert answer.closed
        assert answer.status in (0, 400, 408)
        wait_for(lambda: list(folder.iterdir()) == [])


def test_a_length_that_is_too_short_is_a_form_without_an_end(roomless: Served) -> None:
    body = BODY[:MIB]

    answer = send_and_read(roomless.url, head(MIB, new_key(roomless)), body, until=b"}")

    assert answer.status == 400
    assert b"last boundary" in answer.body
    assert parts(roomless) == []


def test_an_owner_has_few_uploads_at_a_time(here: Served, clients: Clients) -> None:
    key, other = new_key(here), clients(here)
    with ExitStack() as stack:
        slow: list[socket.socket] = []
        for _ in range(MOST_UPLOADS):
            peer = stack.enter_context(connect(here.url))
            peer.sendall(head(len(BODY), key) + BODY[:MIB])
            slow.append(peer)
        wait_for(lambda: len(parts(here)) == MOST_UPLOADS)

        refused = clients(here, key).post(FILES, content=form(file(b"x")), headers=FORM)
        welcome = other.post(FILES, content=form(file(b"x")), headers=FORM)

        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert welcome.status_code == 200
        for peer in slow:
            send_bytes(peer, BODY[MIB:])
            assert read_response(peer, PATIENCE, until=b"}").status == 200
    assert clients(here, key).post(FILES, content=form(file(b"x")), headers=FORM).is_success
    assert parts(here) == []


def test_a_body_in_tiny_pieces_is_refused(here: Served) -> None:
    lines = "".join(f"{n}: {v}\r\n" for n, v in {**FORM, **new_key(here)}.items()).encode()
    chunked = b"POST /v1/files HTTP/1.1\r\n" + HOST + lines + b"transfer-encoding: chunked\r\n\r\n"
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in form(file(b"x" * 20_000)))

    answer = send_and_read(here.url, chunked, pieces, b"0\r\n\r\n", until=b"}")

    assert answer.status == 400
    assert parts(here) == []


TARGETS = (
    *("/v1/files/../../etc/passwd", "/v1/files/..%2f..%2fmaster-key/content"),
    *("/v1/files/%2e%2e/content", "/v1/files/.parts/content", "/v1/files/.lock"),
    *("/v1/files/file_%00/content", "/v1/files//etc/passwd", "/v1/files/..\\..\\x/content"),
    *("/v1/files/%2e%2e%2f%2e%2e%2fapi-key-secret", "/v1/files/file_%2f/../content"),
    *("/v1/files/" + "%2e%2e%2f" * 200 + "etc/passwd", "/v1/files/~/content"),
)


@pytest.mark.parametrize("target", TARGETS, ids=range(len(TARGETS)))
@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD"])
def test_no_path_leads_out_of_the_folder(here: Served, method: str, target: str) -> None:
    received = f"{method} {target} HTTP/1.1\r\n".encode() + HOST + b"connection: close\r\n\r\n"

    answer = send_and_read(here.url, received)

    assert 400 <= answer.status < 500
    assert (here.gateway.core.data_dir.path / "master-key").exists()


def test_a_refusal_comes_before_the_body(here: Served) -> None:
    key = new_key(here)
    wrong_type = head(10**9, {**key, "content-type": "application/json"})

    with connect(here.url) as peer:
        peer.sendall(wrong_type)
        assert read_response(peer, PATIENCE, until=b"}").status == 415
    with connect(here.url) as peer:
        peer.sendall(head(10**12, key))
        assert read_response(peer, PATIENCE, until=b"}").status == 413


def test_a_body_larger_than_any_file_is_not_read_to_its_end(narrow: Served) -> None:
    key = new_key(narrow)
    fields = form(*(field(f"f{n}", b"x" * 4000) for n in range(60)), is_whole=False)
    after = b"x" * 2 * MIB
    body = fields + form(file(b"x")) + after

    answer = send_and_read(narrow.url, head(len(body), key), body, until=b"}")

    assert answer.status == 413
    assert parts(narrow) == []


def test_a_client_may_wait_to_be_let_in(here: Served) -> None:
    # RFC 9110, section 10.1.1: as curl does with a large body.
    key = {**new_key(here), "expect": "100-continue"}

    with connect(here.url) as peer:
        peer.sendall(head(len(BODY), key))
        going = read_response(peer, PATIENCE, until=b"\r\n\r\n")
        peer.sendall(BODY)
        answer = read_response(peer, PATIENCE, until=b"}")
    with connect(here.url) as peer:
        peer.sendall(head(10**12, key))
        refused = read_response(peer, PATIENCE, until=b"}")

    assert (going.status, answer.status) == (100, 200)
    assert refused.statuses == [413]
