"""Whole answers that are served without a task come out as they do in the usual way.

The first request of a connection goes the usual way; one that repeats its head
the express way. Each vendor below is asked in both ways.
"""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from raw_http import connect, read_response, send_bytes
from served_gateway import Served, serve_gateway

from gateway_core import Auth, ProviderSpec
from gateway_core.identity.credentials import CLI_HEADER

USUAL, EXPRESS = "usual", "express"
ENOUGH = 1.5
"""Seconds in which an answer must have come whole."""


def reply(text: str = "Hi", **more: Any) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    return json.dumps({"id": "c", "choices": [choice], "usage": usage, **more}).encode()


def error(status: int, message: str, **headers: str) -> MockResponse:
    body = {"error": {"message": message, "type": "refused", "code": None}}
    return MockResponse((json.dumps(body).encode(),), status, headers=headers)


GOOD = MockResponse((reply(),))
LONG = reply("long " * 40_000)
CLAUDE = json.dumps(
    {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
).encode()
VENDORS: dict[str, Callable[[], MockResponse]] = {
    "good": lambda: GOOD,
    "limits": lambda: MockResponse(
        (reply(),), headers={"X-RateLimit-Remaining": "7", "Request-Id": "r", "X-Other": "no"}
    ),
    "long": lambda: MockResponse((LONG,)),
    "pieces": lambda: MockResponse((reply()[:20], reply()[20:]), pause=0.05),
    "chunks": lambda: MockResponse.stream(
        reply()[:9], reply()[9:], content_type="application/json"
    ),
    "late": lambda: MockResponse((reply(),), delay=0.4),
    "unauthorized": lambda: error(401, "Incorrect API key provided: key-of-vendor"),
    "busy": lambda: error(429, "Slow down", **{"retry-after": "9"}),
    "broken": lambda: error(500, "It broke"),
    "bad request": lambda: error(400, "max_tokens is too large"),
    "disguised": lambda: MockResponse((b'{"error":{"message":"no","type":"x"}}',)),
    "rubbish": lambda: MockResponse((b"<html>",)),
    "nothing": lambda: MockResponse((b"",)),
    "cut": lambda: MockResponse((reply()[:30],), cut=True),
    "no usage": lambda: MockResponse((reply(usage=None),)),
    "stream": lambda: MockResponse.stream(
        b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    ),
    "redirect": lambda: MockResponse((b"",), 302, headers={"location": "http://127.0.0.1/"}),
}


def script(received: ReceivedRequest) -> MockResponse:
    name = received.json()["model"]
    if received.path.endswith("/messages"):
        return MockResponse((CLAUDE,))
    if name.startswith("hang up"):
        raise ConnectionError
    return VENDORS.get(name, lambda: GOOD)()


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    """Providers for each vendor and path, so that requests do not share state."""
    url = vendors["any"].url
    names = [
        f"{name.replace(' ', '-')}-{way}"
        for name in (*VENDORS, "hang-up", "other")
        for way in (USUAL, EXPRESS)
    ]
    keyless = Auth(type="none")
    plain = [
        ProviderSpec(id=name, name=name, format="openai", base_url=url, auth=keyless)
        for name in names
    ]
    translated = ProviderSpec(
        id="translated", name="translated", format="claude", base_url=url, auth=keyless
    )
    keyed = ProviderSpec(id="keyed", name="keyed", format="openai", base_url=url)
    return [*plain, translated, keyed]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("express"), {"any": script}, specs=specs) as gateway:
        yield gateway


def asking(model: str, **more: Any) -> bytes:
    members = {"model": model, "messages": [{"role": "user", "content": "hello"}], **more}
    body = json.dumps(members).encode()
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )


def ask(peer: socket.socket, request: bytes, within: float = ENOUGH) -> tuple[int, Any, bytes]:
    """Status, headers that are the same for every request, and body."""
    send_bytes(peer, request)
    data = read_response(peer, 10, until=b"\r\n\r\n").data
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
    headers = {name: value for name, _, value in lines}
    until = time.monotonic() + 10
    while len(body) < int(headers[b"content-length"]) and time.monotonic() < until:
        body += peer.recv(1 << 20)
    known = headers.pop(b"x-request-id").decode()
    headers.pop(b"date")
    text = body.replace(known.encode(), b"ID")
    for way in (USUAL, EXPRESS):
        text = text.replace(f"-{way}".encode(), b"-WAY")
    headers[b"content-length"] = b"any"
    return int(head.split(b" ")[1]), headers, text


def row_of(here: Served, provider: str) -> dict[str, Any]:
    """The ledger's row of the last call, without times and ids."""
    rows = [row for row in here.rows() if row.provider == provider]
    names = (
        "status http_status error_code input_tokens output_tokens estimated attempts "
        "model_sent upstream_format stream connection_id endpoint client_format"
    )
    return {name: str(getattr(rows[0], name)).replace(provider, "P") for name in names.split()}


@pytest.mark.parametrize("name", VENDORS)
def test_both_paths_give_the_same_result(here: Served, taken: list[bool], name: str) -> None:
    slug = name.replace(" ", "-")
    with connect(here.url) as peer:
        usual = ask(peer, asking(f"{slug}-{USUAL}/{name}"))
    with connect(here.url) as peer:
        ask(peer, asking("other-express/good"))
        express_way = ask(peer, asking(f"{slug}-{EXPRESS}/{name}"))
        after = ask(peer, asking("other-express/good"))

    assert taken[0]
    assert express_way == usual
    assert row_of(here, f"{slug}-{EXPRESS}") == row_of(here, f"{slug}-{USUAL}")
    assert after[0] == 200


def test_a_translated_answer_takes_the_fast_path(here: Served, taken: list[bool]) -> None:
    with connect(here.url) as peer:
        first = ask(peer, asking("translated/m"))
        second = ask(peer, asking("translated/m"))

    assert taken == [True]
    assert first[0] == second[0] == 200
    assert json.loads(first[2])["choices"] == json.loads(second[2])["choices"]


def test_a_kept_connection_that_died_is_replaced_once(here: Served, taken: list[bool]) -> None:
    vendor = here.vendors["any"]
    with connect(here.url) as peer:
        ask(peer, asking("other-express/good"))
        before = len(vendor.received)
        status, _, _ = ask(peer, asking("hang-up-express/hang up"))

    assert taken == [True]
    assert status == 502
    assert len(vendor.received) - before == 2
    row = row_of(here, "hang-up-express")
    assert (row["status"], row["attempts"]) == ("error", "1")


def test_after_a_refusal_the_next_account_is_tried(
    here: Served, taken: list[bool], add_account: Callable[..., str]
) -> None:
    vendor = here.vendors["any"]
    for key in ("one", "two"):
        add_account(here, "keyed", key)
    shown: list[str] = []

    def judge(received: ReceivedRequest) -> MockResponse:
        shown.append(received.headers.get("authorization", ""))
        return (
            error(500, "no")
            if refuses and received.headers["authorization"] == "Bearer one"
            else GOOD
        )

    before, vendor.script, refuses = vendor.script, judge, False
    try:
        with connect(here.url) as peer:
            ask(peer, asking("keyed/m"))
            refuses = True
            status, _, body = ask(peer, asking("keyed/m"))
    finally:
        vendor.script = before

    assert taken == [True]
    assert (status, body) == (200, reply())
    assert shown == ["Bearer one", "Bearer one", "Bearer two"]
    assert row_of(here, "keyed")["attempts"] == "2"


def test_a_client_disconnect_is_recorded_and_closes_the_vendor_connection(
    here: Served, taken: list[bool]
) -> None:
    vendor = here.vendors["any"]
    before, gone = vendor.script, vendor.gone
    with connect(here.url) as peer:
        ask(peer, asking("other-express/good"))
        vendor.script = lambda received: MockResponse((reply(),), delay=20.0)
        send_bytes(peer, asking("other-usual/good"))
        _until(lambda: len(taken) == 1)
    try:
        _until(lambda: vendor.gone > gone)
    finally:
        vendor.script = before

    assert taken == [True]
    row = row_of(here, "other-usual")
    assert (row["status"], row["http_status"]) == ("client_gone", "499")
    assert not here.gateway.core.in_flight


def test_settings_decide_which_requests_take_the_fast_path(here: Served, taken: list[bool]) -> None:
    shown = {CLI_HEADER: here.gateway.core.identity.cli_token}

    def observe(is_on: bool) -> None:
        body = {"enableObservability": is_on}
        assert httpx2.patch(f"{here.url}/api/settings", json=body, headers=shown).status_code == 200

    with connect(here.url) as peer:
        ask(peer, asking("other-express/good"))
        observe(True)
        try:
            ask(peer, asking("other-express/good"))
        finally:
            observe(False)
        ask(peer, asking("other-express/good"))

    assert taken == [False, True]


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()
