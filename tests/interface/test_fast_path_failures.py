"""Whole answers on the fast path when something goes wrong: plugins, clients, vendors, stops."""

import asyncio
import gc
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from raw_http import connect, read_response, send_bytes
from served_gateway import Served, serve_gateway

from gateway_core import Auth, ProviderSpec
from gateway_core.pipeline.exchanges import PassThrough
from gateway_core.pipeline.translation import Translation
from gateway_core.storage.stores.connection import NewConnection

MESSAGE = {"role": "assistant", "content": "Hi"}
REPLY = json.dumps(
    {
        "id": "c",
        "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }
).encode()
DISGUISED = b'{"error":{"message":"no","type":"x"}}'
HUGE = json.dumps(
    {"id": "c", "choices": [{"index": 0, "message": {**MESSAGE, "content": "x" * 200_000}}]}
).encode()
ENOUGH = b'"total_tokens"'
PROVIDERS = ("usual", "express", "other", "turns")


def script(received: ReceivedRequest) -> MockResponse:
    name = received.json()["model"]
    if name.startswith("cut"):
        return MockResponse((REPLY[: int(name[3:])],), cut=True)
    content = {
        "late": MockResponse((REPLY,), delay=0.6),
        "never": MockResponse((REPLY,), delay=20.0),
        "disguised": MockResponse((DISGUISED,)),
        "huge": MockResponse((HUGE,)),
        "closing": MockResponse((REPLY,), headers={"connection": "close"}),
    }
    return content.get(name, MockResponse((REPLY,)))


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    url, keyless = vendors["any"].url, Auth(type="none")
    plain = [
        ProviderSpec(id=name, name=name, format="openai", base_url=url, auth=keyless)
        for name in PROVIDERS[:-1]
    ]
    return [*plain, ProviderSpec(id="turns", name="turns", format="openai", base_url=url)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("trouble"), {"any": script}, specs=specs) as gateway:
        yield gateway


def asking(model: str, *headers: bytes, content: str = "hello") -> bytes:
    members = {"model": model, "messages": [{"role": "user", "content": content}]}
    body = json.dumps(members).encode()
    lines = b"".join(header + b"\r\n" for header in headers)
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n%b"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (lines, len(body), body)
    )


def answered(
    here: Served, model: str, way: str, meanwhile: Callable[[], None] = lambda: None
) -> tuple[int, bytes]:
    """Status and body of one request on this path; ``meanwhile`` is called before it is sent."""
    with connect(here.url) as peer:
        if way == "express":
            send_bytes(peer, asking("other/m"))
            read_response(peer, 10, until=ENOUGH)
            _rested(here)
        meanwhile()
        send_bytes(peer, asking(f"{way}/{model}"))
        data = b""
        until = time.monotonic() + 5
        while not _is_whole(data) and time.monotonic() < until:
            response = read_response(peer, 0.2, until=b"}")
            data += response.data
            if response.closed:
                break
    body = data.partition(b"\r\n\r\n")[2]
    _rested(here)
    return int(data[9:12] or 0), _ID.sub(b"ID", body.replace(way.encode(), b"WAY"))


_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f-]{27}")


def _is_whole(data: bytes) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: ([0-9]+)", head)
    return bool(end) and length is not None and len(body) >= int(length[1])


def row_of(here: Served, provider: str) -> tuple[object, ...]:
    row = next(row for row in here.rows() if row.provider == provider)
    names = "status http_status error_code input_tokens output_tokens attempts upstream_format"
    return tuple(getattr(row, name) for name in names.split())


def _rested(here: Served) -> None:
    """Every request is over."""
    _until(lambda: not here.gateway.core.in_flight)


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()


@pytest.mark.parametrize(
    "fault", [RuntimeError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit]
)
@pytest.mark.parametrize("place", ["feed", "close", "usage", "media_type"])
def test_a_failing_plugin_ends_its_request(
    here: Served, taken: list[bool], place: str, fault: type[BaseException]
) -> None:
    def broken(self: Any, *words: Any) -> Any:
        raise fault("broken")

    def break_it() -> None:
        made = broken if place in ("feed", "close") else property(broken, _ignore)
        patch.setattr(PassThrough, place, made, raising=False)

    found = []
    for way in ("usual", "express"):
        with pytest.MonkeyPatch.context() as patch:
            found.append((*answered(here, "m", way, break_it), row_of(here, way)))

    assert taken == [True]
    _rested(here)
    if issubclass(fault, Exception):
        assert found[0][1:] == found[1][1:]


def _ignore(self: object, value: object) -> None:
    """Accepts any constructor arguments."""


def test_a_failed_answer_is_read_once(here: Served, taken: list[bool]) -> None:
    opened, usual = list[str](), Translation.open

    def counted(self: Translation, target: Any, credential: Any) -> Any:
        opened.append(target.provider.id)
        return usual(self, target, credential)

    with pytest.MonkeyPatch.context() as patch:
        status, _ = answered(
            here, "disguised", "express", lambda: patch.setattr(Translation, "open", counted)
        )

    assert taken == [True]
    assert opened == ["express"]
    assert status >= 400
    _rested(here)


@pytest.mark.parametrize("length", range(0, len(REPLY), 23))
def test_a_vendor_disconnect_is_reported_the_same_on_both_paths(
    here: Served, taken: list[bool], length: int
) -> None:
    model = f"cut{length}"

    usual = answered(here, model, "usual"), row_of(here, "usual")
    express_way = answered(here, model, "express"), row_of(here, "express")
    here.gateway.core.cooldowns.clear(["usual:public", "express:public"], "__all")

    assert taken == [True]
    assert usual == express_way


def test_a_vendor_may_close_after_its_answer(here: Served, taken: list[bool]) -> None:
    for _ in range(2):
        assert answered(here, "closing", "express")[0] == 200

    assert taken == [True, True]


def test_a_disconnect_after_a_large_request_is_noticed(here: Served, taken: list[bool]) -> None:
    vendor, large = here.vendors["any"], "x" * 90_000
    gone = vendor.gone
    with connect(here.url) as peer:
        for _ in range(4):  # By then the system takes such a request at once.
            send_bytes(peer, asking("other/m", content=large))
            read_response(peer, 10, until=ENOUGH)
        _rested(here)
        taken.clear()
        here.loop.call_soon_threadsafe(time.sleep, 0.2)
        send_bytes(peer, asking("express/never", content=large))
        _until(lambda: taken == [True])

    _until(lambda: vendor.gone > gone)

    assert row_of(here, "express")[:2] == ("client_gone", 499)


def test_a_disconnect_after_a_pipelined_request_is_noticed(here: Served, taken: list[bool]) -> None:
    vendor = here.vendors["any"]
    gone = vendor.gone
    with connect(here.url) as peer:
        send_bytes(peer, asking("other/m"))
        read_response(peer, 10, until=ENOUGH)
        send_bytes(peer, asking("express/never"))
        _until(lambda: taken == [True])
        send_bytes(peer, asking("other/m"))

    _until(lambda: vendor.gone > gone)

    assert row_of(here, "express")[:2] == ("client_gone", 499)


def test_requests_behind_one_without_a_task_are_answered_in_their_order(
    here: Served, taken: list[bool]
) -> None:
    with connect(here.url) as peer:
        send_bytes(peer, asking("other/m"))
        read_response(peer, 10, until=ENOUGH)
        send_bytes(peer, asking("express/late"))
        _until(lambda: taken == [True])
        send_bytes(peer, asking("other/closing"), asking("other/unknown/"))
        response = read_response(peer, 1.5)

    assert response.statuses[:2] == [200, 200]
    assert len(response.statuses) == 3


def test_a_client_that_reads_late_gets_whole_answers(here: Served, taken: list[bool]) -> None:
    received = 40
    with connect(here.url) as peer:
        for _ in range(received):
            send_bytes(peer, asking("express/huge"))
            time.sleep(0.03)
        data, until = b"", time.monotonic() + 10
        while data.count(HUGE) < received and time.monotonic() < until:
            data += peer.recv(1 << 20)

    assert data.count(HUGE) == received
    assert True in taken
    _rested(here)


def test_a_session_keeps_its_account_when_round_robin_is_switched_on(
    here: Served, taken: list[bool]
) -> None:
    shown: list[str] = []

    def note(received: ReceivedRequest) -> MockResponse:
        shown.append(received.headers["authorization"])
        return MockResponse((REPLY,))

    async def add(key: str, **settings: Any) -> None:
        stores = here.gateway.core.stores
        await stores.connections.create(
            NewConnection(provider="turns", name=key, data={"apiKey": key})
        )
        await stores.settings.patch({"fallbackStrategy": "round-robin", **settings})
        await here.gateway.core.refresh()

    vendor = here.vendors["any"]
    here.do(add("one"))
    with connect(here.url) as peer:
        send_bytes(peer, asking("other/m", b"x-session-id: s"))
        read_response(peer, 10, until=ENOUGH)
        vendor.script = note
        try:
            for _ in range(2):
                send_bytes(peer, asking("turns/m", b"x-session-id: s"))
                read_response(peer, 10, until=ENOUGH)
            here.do(add("two", stickyRoundRobinLimit=1))
            for session in (b"other", b"s", b"other", b"s"):
                send_bytes(peer, asking("turns/m", b"x-session-id: " + session))
                read_response(peer, 10, until=ENOUGH)
        finally:
            vendor.script = script

    assert taken == [True, True]
    assert shown[:2] == ["Bearer one"] * 2
    assert shown[2:] == ["Bearer two", "Bearer one"] * 2


def test_a_stop_lets_a_request_without_a_task_finish(
    tmp_path_factory: pytest.TempPathFactory, taken: list[bool]
) -> None:
    with (
        serve_gateway(tmp_path_factory.mktemp("stop"), {"any": script}, specs=specs) as here,
        connect(here.url) as peer,
    ):
        send_bytes(peer, asking("other/m"))
        read_response(peer, 10, until=ENOUGH)
        send_bytes(peer, asking("express/late"))
        _until(lambda: taken == [True])
        here.loop.call_soon_threadsafe(here.stop.set)
        response = read_response(peer, 5)

    assert response.status == 200
    assert response.body == REPLY
    assert b"connection: close" in response.data
    assert response.closed


def test_no_reference_cycles_are_left(here: Served, taken: list[bool]) -> None:
    def alive() -> Counter[str]:
        kinds = (type(each) for each in gc.get_objects())
        names = (f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
        # The kit's vendor keeps what it was asked.
        return Counter(n for n in names if n.startswith("gateway_") and "gateway_kit" not in n)

    def ask(peer: Any, model: str) -> None:
        send_bytes(peer, asking(model))
        read_response(peer, 10, until=b"}")

    with connect(here.url) as peer:
        for model in ("other/m", "express/m", "express/disguised"):
            ask(peer, model)
        time.sleep(0.6)
        gc.collect()
        gc.disable()
        try:
            before = alive()
            for _ in range(20):
                ask(peer, "express/m")
            _rested(here)
            after = alive()
        finally:
            gc.enable()

    assert taken.count(True) >= 20
    left = after - before
    assert sum(left.values()) <= 2, left
