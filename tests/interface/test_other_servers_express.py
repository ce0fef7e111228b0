"""Whole answers in other servers: what comes is what comes in the usual way, whatever happens."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from fake_vendor import Asked, FakeVendor, Said
from other_servers import SERVERS, Guest, embedded, until
from served import house

from gateway_core import ProviderSpec
from gateway_core.identity.credentials import CLI_HEADER
from gateway_core.pipeline import fast_path
from gateway_core.pipeline.client_response import SLICE
from gateway_core.pipeline.exchanges import PassThrough
from gateway_core.pipeline.fast_path import guest as guests

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f-]{27}")


def reply(text: str = "Hi") -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    return json.dumps({"id": "c", "choices": [choice], "usage": usage}).encode()


VENDORS: dict[str, Callable[[], Said]] = {
    "good": lambda: Said((reply(),)),
    "pieces": lambda: Said((reply()[:20], reply()[20:]), pause=0.05),
    "chunks": lambda: Said.stream(reply()[:9], reply()[9:], content_type="application/json"),
    "late": lambda: Said((reply(),), delay=0.6),
    "long": lambda: Said((reply("long " * SLICE),)),
    "limits": lambda: Said((reply(),), headers={"x-ratelimit-remaining": "7", "request-id": "r"}),
    "empty": lambda: Said((b"",)),
    "rubbish": lambda: Said((b"{",)),
    "disguised": lambda: Said((b'{"error":{"message":"no","type":"x"}}',)),
    "cut": lambda: Said((reply()[:40],), cut=True),
    "cut at once": lambda: Said((b"",), cut=True),
    "unauthorized": lambda: Said((b'{"error":{"message":"no"}}',), 401),
    "busy": lambda: Said((b'{"error":{"message":"no"}}',), 429, headers={"retry-after": "9"}),
    "broken": lambda: Said((b"",), 500),
    "moved": lambda: Said((b"",), 302, headers={"location": "http://127.0.0.1/"}),
}
WAYS = ("usual", "quick")


def script(asked: Asked) -> Said:
    return VENDORS[asked.json()["model"]]()


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    """A provider for each vendor and way, so that what one request learns touches no other."""
    names = [f"{name.replace(' ', '-')}-{way}" for name in VENDORS for way in WAYS]
    return [house("openai", vendors["any"], id=name) for name in names]


@pytest.fixture(scope="module", params=SERVERS[1:])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    folder = tmp_path_factory.mktemp("guest")
    with embedded(request.param, folder, {"any": script}, specs=specs) as guest:
        yield guest


@pytest.fixture
def guest(place: Guest) -> Iterator[Guest]:
    """In the end nobody waits, and nothing is under way."""
    yield place
    until(lambda: not place.here.gateway.core.in_flight)
    waiting = place.here.gateway.app._guests
    until(lambda: not waiting._waiting and not waiting._old and waiting._timer is None)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each request went the express way."""
    found: list[bool] = []
    begin = fast_path.begin

    def noted(core: Any, arrival: Any, body: bytes, *rest: Any) -> Any:
        is_usual = b"-usual/" in body
        attempt = None if is_usual else begin(core, arrival, body, *rest)
        found.append(attempt is not None)
        return attempt

    monkeypatch.setattr(fast_path, "begin", noted)
    return found


def ask(http: httpx2.Client, name: str, way: str, path: str = CHAT) -> tuple[Any, ...]:
    """Status, headers and body, but for what differs from one request to the next."""
    model = f"{name.replace(' ', '-')}-{way}/{name}"
    body = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    told = http.post(path, json=body)
    headers = {n: v for n, v in told.headers.items() if n not in ("date", "x-request-id")}
    headers.pop("content-length", None)
    text = _ID.sub(b"ID", told.content).replace(f"-{way}".encode(), b"-WAY")
    return told.status_code, headers, text


def row_of(guest: Guest, provider: str) -> dict[str, str]:
    """What the ledger has of the last call there, without times and ids."""
    until(lambda: not guest.here.gateway.core.in_flight)
    row = next(row for row in guest.here.rows() if row.provider == provider)
    names = (
        "status http_status error_code input_tokens output_tokens estimated attempts "
        "model_sent upstream_format stream connection_id endpoint client_format"
    )
    return {name: str(getattr(row, name)).replace(provider, "P") for name in names.split()}


@pytest.mark.parametrize(
    ("name", "path"), [*((name, CHAT) for name in VENDORS), ("good", MESSAGES), ("busy", MESSAGES)]
)
def test_both_ways_give_the_same(guest: Guest, begun: list[bool], name: str, path: str) -> None:
    slug = name.replace(" ", "-")
    guest.here.gateway.core.cooldowns.clear([f"{slug}-{way}:public" for way in WAYS], "__all")
    with guest.client() as http:
        found = []
        for way in WAYS:
            ask(http, "good", "usual")  # There is a connection to the vendor now.
            found.append((ask(http, name, way, path), row_of(guest, f"{slug}-{way}")))

    assert begun == [False, False, False, True]
    assert found[0] == found[1]


@pytest.mark.parametrize("fault", [RuntimeError, SystemExit])
def test_a_plugin_that_breaks_ends_its_request(
    guest: Guest,
    begun: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    fault: type[BaseException],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*words: Any) -> Any:
        raise fault("broken")

    monkeypatch.setattr(PassThrough, "close", broken)
    with guest.client() as http:
        found = [ask(http, "good", way) for way in WAYS]
        monkeypatch.undo()
        after = ask(http, "good", "quick")

    assert found[0] == found[1]
    assert after[0] == 200
    loud = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert not [each for each in loud if each.name.startswith(("uvicorn", "hypercorn"))]


def test_the_row_of_a_key_with_limits_is_there_before_its_answer(
    guest: Guest, begun: list[bool]
) -> None:
    owner = {CLI_HEADER: guest.here.gateway.core.identity.cli_token}
    with guest.client() as http:
        limits = {"name": "a", "machineId": "b", "dailyLimitTokens": 6}
        key = http.post("/api/keys", json=limits, headers=owner).json()["key"]
        ask(http, "good", "usual")
        http.headers["authorization"] = f"Bearer {key}"
        told = [ask(http, "good", "quick")[0] for _ in range(3)]

    assert told == [200, 200, 429]
    assert begun[-2:] == [True, False]


def test_a_client_that_leaves_while_its_answer_comes_is_gone_once(
    guest: Guest, begun: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever moment, with the watch on its client as early as can be."""
    monkeypatch.setattr(guests, "WATCH_AFTER", 0.01)
    seen = {row.request_id for row in guest.here.rows()}
    for patience in range(9):
        with guest.client() as http:
            http.timeout = 0.03 + 0.01 * patience
            with suppress(httpx2.TimeoutException):
                ask(http, "pieces", "quick")
    until(lambda: not guest.here.gateway.core.in_flight)

    rows = [row for row in guest.here.rows() if row.request_id not in seen]
    assert {row.status for row in rows} <= {"ok", "client_gone"}
    assert len(rows) == len(begun) == 9
