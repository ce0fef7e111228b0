"""Requests of one connection with equal heads: each is checked (5.1, 5.2)."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from gateway_server_fast.http1.connection import ClientConnection
from gateway_server_fast.http1.request_head import RefusedRequest
from msgspec.structs import force_setattr
from raw_http import connect, read_response, send_bytes
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER

REPLY = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}'
)
ENOUGH = b"completion_tokens"
LATER = 1_930_000_000.0
"""Unix seconds, in 2031."""


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def here(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    scripts = {"openai": lambda received: MockResponse((REPLY,))}
    folder = tmp_path_factory.mktemp("repeats")
    with serve_gateway(folder, scripts, server=request.param) as gateway:
        operate(gateway, "PATCH", "/api/settings", {"requireApiKey": True})
        yield gateway


def chat(key: str, content: str, *, model: str = "v-openai/m-1") -> bytes:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": content}]})
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nAuthorization: Bearer %b\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (key.encode(), len(body), body.encode())
    )


def key_of(here: Served, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = operate(
        here, "POST", "/api/keys", {"name": "a", "machineId": "b", **more}
    ).json()
    return found


def operate(here: Served, method: str, path: str, body: object = None) -> httpx2.Response:
    """Calls with the CLI token of this machine."""
    shown = {CLI_HEADER: here.gateway.core.identity.cli_token}
    done = httpx2.request(method, here.url + path, json=body, headers=shown)
    assert done.status_code < 300, done.text
    return done


def test_every_body_arrives_as_it_was_sent(here: Served) -> None:
    key = key_of(here)["key"]
    texts = ["a", "bb" * 40, "", "é" * 9, "c" * 3000, "a"]

    with connect(here.url) as peer:
        for text in texts:
            send_bytes(peer, chat(key, text))
            assert read_response(peer, 10, until=ENOUGH).status == 200

    received: list[ReceivedRequest] = here.vendors["openai"].received[-len(texts) :]
    assert [json.loads(one.body)["messages"][0]["content"] for one in received] == texts


def test_requests_that_are_cut_anywhere_are_answered_among_whole_ones(here: Served) -> None:
    key = key_of(here)["key"]
    whole = chat(key, "whole")

    with connect(here.url) as peer:
        for cut in range(0, len(whole), 17):
            send_bytes(peer, whole)
            assert read_response(peer, 10, until=ENOUGH).status == 200
            send_bytes(peer, whole[:cut])
            send_bytes(peer, whole[cut:])
            assert read_response(peer, 10, until=ENOUGH).status == 200


def test_two_requests_in_one_piece_are_both_answered(here: Served) -> None:
    key = key_of(here)["key"]

    with connect(here.url) as peer:
        send_bytes(peer, chat(key, "first"))
        read_response(peer, 10, until=ENOUGH)
        send_bytes(peer, chat(key, "second") + chat(key, "third"))
        heard = read_response(peer, 1.5)

    assert heard.statuses == [200, 200]


def test_a_key_that_was_paused_or_deleted_is_refused_on_an_open_connection(here: Served) -> None:
    key = key_of(here)
    paused = key_of(here)

    with connect(here.url) as first, connect(here.url) as second:
        for _ in range(2):
            send_bytes(first, chat(key["key"], "hi"))
            send_bytes(second, chat(paused["key"], "hi"))
            assert read_response(first, 10, until=ENOUGH).status == 200
            assert read_response(second, 10, until=ENOUGH).status == 200

        operate(here, "DELETE", f"/api/keys/{key['id']}")
        operate(here, "PUT", f"/api/keys/{paused['id']}", {"isActive": False})

        send_bytes(first, chat(key["key"], "hi"))
        send_bytes(second, chat(paused["key"], "hi"))
        assert read_response(first, 10, until=b"}").status == 401
        assert read_response(second, 10, until=b"}").status == 401


def test_a_key_that_expires_is_refused_on_an_open_connection(here: Served) -> None:
    key = key_of(here, expiresAt="2031-01-01T00:00:00Z")
    identity = here.gateway.core.identity

    with connect(here.url) as peer:
        for _ in range(2):
            send_bytes(peer, chat(key["key"], "hi"))
            assert read_response(peer, 10, until=ENOUGH).status == 200

        before = identity.clock
        try:
            force_setattr(identity, "clock", lambda: LATER)
            send_bytes(peer, chat(key["key"], "hi"))
            assert read_response(peer, 10, until=b"}").status == 401
        finally:
            force_setattr(identity, "clock", before)


def test_an_added_rule_applies_to_the_next_request(here: Served) -> None:
    key = key_of(here)

    with connect(here.url) as peer:
        for _ in range(2):
            send_bytes(peer, chat(key["key"], "hi"))
            assert read_response(peer, 10, until=ENOUGH).status == 200

        operate(here, "PUT", f"/api/keys/{key['id']}", {"allowedModels": ["v-openai/other"]})

        send_bytes(peer, chat(key["key"], "hi"))
        assert read_response(peer, 10, until=b"}").status == 403


def test_repeated_head_requests_get_no_body(
    here: Served,
) -> None:
    received = b"HEAD /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"

    with connect(here.url) as peer:
        heard = []
        for _ in range(3):
            send_bytes(peer, received)
            heard.append(read_response(peer, 0.4))

    assert [each.status for each in heard] == [200, 200, 200]
    assert [each.body for each in heard] == [b"", b"", b""]
    assert not any(each.closed for each in heard)


@pytest.mark.parametrize("behind", [b"", b"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_a_request_may_be_cut_anywhere(here: Served, taken: list[bool], behind: bytes) -> None:
    key = key_of(here)["key"]
    whole = chat(key, "hello")
    head = whole.index(b"\r\n\r\n") + 4
    with connect(here.url) as peer:
        for cut in range(1, len(whole), 5):
            send_bytes(peer, whole)
            read_response(peer, 5, until=REPLY)
            taken.clear()
            send_bytes(peer, whole[:cut])
            early = read_response(peer, 0.01)
            send_bytes(peer, whole[cut:] + behind)
            heard = read_response(peer, 5, until=b"HTTP/1.1 4" if behind else REPLY)

            assert not early.data
            assert heard.data.count(REPLY) == 1
            assert heard.statuses[0] == 200
            assert taken == ([True] if cut >= head and not behind else [])


def test_the_end_of_a_split_head_is_not_taken_for_a_head(here: Served, taken: list[bool]) -> None:
    whole = chat(key_of(here)["key"], "hello")
    cut = whole.index(b"Content-Type")
    with connect(here.url) as peer:
        send_bytes(peer, whole[:cut])
        read_response(peer, 0.05)
        send_bytes(peer, whole[cut:])
        first = read_response(peer, 5, until=REPLY)
        send_bytes(peer, whole[cut:])
        second = read_response(peer, 5)

    assert first.statuses == [200]
    assert second.statuses == [400]
    assert not taken


def half_of_one(here: Served, peer: socket.socket) -> bytes:
    """Send a repeated head and part of a body; return the rest."""
    key = key_of(here)["key"]
    send_bytes(peer, chat(key, "whole"))
    read_response(peer, 10, until=ENOUGH)
    _until(lambda: not here.gateway.core.in_flight)
    whole, seen = chat(key, "half"), len(here.rows())
    send_bytes(peer, whole[:-5])
    time.sleep(0.1)
    assert len(here.rows()) == seen
    return whole[-5:]


def test_a_disconnect_before_the_end_of_the_body_is_recorded(here: Served) -> None:
    with connect(here.url) as peer:
        half_of_one(here, peer)
        seen = here.rows()[0].request_id

    _until(lambda: here.rows()[0].request_id != seen)

    row = here.rows()[0]
    assert (row.status, row.http_status, row.attempts) == ("client_gone", 499, 0)


def test_a_request_with_a_late_body_is_refused_once_and_recorded(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve_gateway(
            tmp_path_factory.mktemp("late"), {"openai": lambda received: MockResponse((REPLY,))}
        ) as here,
        connect(here.url) as peer,
    ):
        half_of_one(here, peer)
        late = RefusedRequest(408, "The request did not come in time")
        monkeypatch.setattr(ClientConnection, "on_tick", lambda self, now: self.refuse(late))
        heard = read_response(peer, 5)
        monkeypatch.undo()
        row = here.rows()[0]

    assert heard.statuses == [408]
    assert (row.status, row.http_status, row.attempts) == ("client_gone", 499, 0)


def test_a_stop_lets_an_incomplete_request_finish(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with (
        serve_gateway(
            tmp_path_factory.mktemp("stop"), {"openai": lambda received: MockResponse((REPLY,))}
        ) as here,
        connect(here.url) as peer,
    ):
        rest = half_of_one(here, peer)
        here.loop.call_soon_threadsafe(here.stop.set)
        time.sleep(0.1)
        send_bytes(peer, rest)
        heard = read_response(peer, 5)

    assert heard.statuses == [200]
    assert heard.closed


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()
