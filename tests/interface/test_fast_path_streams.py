"""Streams without a task come out as those of the usual way do, whatever the vendor does.

The first request of a connection goes the usual way, one that repeats its head
the express way. Each vendor below is asked in both ways.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from raw_http import connect, read_response, send_bytes
from served_gateway import Served, serve_gateway

from gateway_core import Auth, ProviderSpec
from gateway_core.contracts.exchange import Exchange
from gateway_core.pipeline.attempt import UNMEANT_LIMIT
from gateway_core.pipeline.exchanges import PassThrough

USUAL, EXPRESS = "usual", "quick"
"""Of one length, because prompts are measured where a vendor does not count."""
DONE = b"data: [DONE]\n\n"


def frame(text: str = "Hi", finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice], **more}).encode() + b"\n\n"


WORDS = tuple(frame(f"word {number}") for number in range(8))
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
LAST = (frame("", "stop", usage=USAGE), DONE)
EMPTY = frame("")
ERROR = b'data: {"error":{"message":"no key-of-vendor","type":"overloaded"}}\n\n'
NOISE = tuple(b": " + b"x" * 8190 + b"\n\n" for _ in range(2 * UNMEANT_LIMIT // 8192))
STREAM = b"".join((EMPTY, *WORDS[:2], *LAST))


def event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 3, "output_tokens": 1},
}
CLAUDE = (
    event("message_start", message=MESSAGE),
    event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hi"}),
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": " you"}),
    event("content_block_stop", index=0),
    event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 4}),
    event("message_stop"),
)

VENDORS: dict[str, Callable[[], MockResponse]] = {
    "good": lambda: MockResponse.stream(*WORDS, *LAST),
    "in one": lambda: MockResponse.stream(STREAM),
    "paced": lambda: MockResponse.stream(EMPTY, *WORDS, *LAST, pause=0.02),
    "late": lambda: MockResponse.stream(*WORDS, *LAST, delay=0.3),
    "limits": lambda: MockResponse.stream(*WORDS, *LAST, headers={"x-ratelimit-remaining": "7"}),
    "not chunked": lambda: MockResponse(
        (*WORDS, *LAST), content_type="text/event-stream", pause=0.01
    ),
    "long": lambda: MockResponse.stream(frame("long " * 30_000), *LAST, pause=0.01),
    "an image": lambda: MockResponse.stream(frame("iVBOR" * 600_000), *LAST),
    "long at the end": lambda: MockResponse.stream(
        *WORDS, frame("long " * 30_000) + LAST[0] + DONE
    ),
    "no usage": lambda: MockResponse.stream(*WORDS, frame("", "stop"), DONE, pause=0.01),
    "no done": lambda: MockResponse.stream(*WORDS, pause=0.01),
    "half a frame": lambda: MockResponse.stream(*WORDS, b'data: {"cho', pause=0.01),
    "silent": lambda: MockResponse.stream(),
    "says nothing": lambda: MockResponse.stream(EMPTY, EMPTY, pause=0.01),
    "only done": lambda: MockResponse.stream(DONE),
    "noise": lambda: MockResponse.stream(*NOISE, *WORDS, *LAST),
    "rubbish": lambda: MockResponse.stream(b"data: {\n\n"),
    "rubbish later": lambda: MockResponse.stream(*WORDS, b"data: {\n\n", *LAST, pause=0.01),
    "error": lambda: MockResponse.stream(ERROR),
    "error later": lambda: MockResponse.stream(*WORDS, ERROR, pause=0.01),
    "error with words": lambda: MockResponse.stream(WORDS[0] + ERROR),
    "cut": lambda: MockResponse.stream(cut=True),
    "cut in silence": lambda: MockResponse.stream(EMPTY, cut=True, pause=0.01),
    "cut later": lambda: MockResponse.stream(*WORDS, cut=True, pause=0.01),
    "cut at the end": lambda: MockResponse.stream(*WORDS, *LAST, cut=True),
    "goes on": lambda: MockResponse.stream(*WORDS, *LAST, WORDS[0], pause=0.01),
    "unauthorized": lambda: MockResponse((b'{"error":{"message":"no"}}',), 401),
    "busy": lambda: MockResponse(
        (b'{"error":{"message":"no"}}',), 429, headers={"retry-after": "9"}
    ),
    "broken": lambda: MockResponse((b"",), 500),
    "whole": lambda: MockResponse((b'{"choices":[]}',)),
}
WITH_A_TASK = {
    *("long", "an image", "long at the end", "no done", "half a frame", "silent"),
    *("says nothing", "only done"),
    *("noise", "rubbish", "rubbish later", "error", "error later", "error with words"),
    *("cut", "cut in silence", "cut later", "cut at the end"),
    *("unauthorized", "busy", "broken", "whole"),
}


def script(received: ReceivedRequest) -> MockResponse:
    name = received.json()["model"]
    if received.path.endswith("/messages"):
        return MockResponse.stream(*CLAUDE, pause=0.01)
    if name.startswith("at "):
        place = int(name[3:])
        return MockResponse.stream(STREAM[:place], STREAM[place:], pause=0.002)
    return VENDORS[name]()


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    """Providers for each vendor and path, so that requests do not share state."""
    url, keyless = vendors["any"].url, Auth(type="none")
    names = [
        f"{name.replace(' ', '-')}-{way}"
        for name in (*VENDORS, "other", "any")
        for way in (USUAL, EXPRESS)
    ]
    plain = [
        ProviderSpec(id=name, name=name, format="openai", base_url=url, auth=keyless)
        for name in names
    ]
    claude = ProviderSpec(id="claude", name="claude", format="claude", base_url=url, auth=keyless)
    return [*plain, claude]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("streams"), {"any": script}, specs=specs) as gateway:
        yield gateway


def body_of(model: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hello"}]
    return {"model": model, "stream": True, "messages": messages}


Heard = tuple[int, dict[str, str], bytes]


def ask(client: httpx2.Client, model: str) -> Heard:
    """Status, headers that are the same for every request, and body."""
    answer = client.post("/v1/chat/completions", json=body_of(model))
    headers = dict(answer.headers)
    known = headers.pop("x-request-id")
    for name in ("date", "content-length"):
        headers.pop(name, None)
    text = answer.content.replace(known.encode(), b"ID")
    for way in (USUAL, EXPRESS):
        text = text.replace(f"-{way}".encode(), b"-WAY")
    return answer.status_code, headers, text


def connected(here: Served) -> httpx2.Client:
    limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
    return httpx2.Client(base_url=here.url, trust_env=False, limits=limits, timeout=30)


def row_of(here: Served, provider: str) -> dict[str, Any]:
    """The ledger's row of the last call, without times and ids."""
    _until(lambda: not here.gateway.core.in_flight)
    row = next(row for row in here.rows() if row.provider == provider)
    names = (
        "status http_status error_code input_tokens output_tokens estimated attempts "
        "model_sent upstream_format stream connection_id endpoint client_format"
    )
    return {name: str(getattr(row, name)).replace(provider, "P") for name in names.split()}


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()


@pytest.mark.parametrize("name", VENDORS)
def test_both_paths_give_the_same_result(
    here: Served, taken: list[bool], handed: list[bool], name: str
) -> None:
    slug = name.replace(" ", "-")
    with connected(here) as client:
        usual = ask(client, f"{slug}-{USUAL}/{name}")
    with connected(here) as client:
        ask(client, "other-quick/in one")
        _until(lambda: not here.gateway.core.in_flight)
        express_way = ask(client, f"{slug}-{EXPRESS}/{name}")
        after = ask(client, "other-quick/in one")

    assert taken[0]
    assert bool(handed) is (name in WITH_A_TASK)
    assert express_way == usual
    assert row_of(here, f"{slug}-{EXPRESS}") == row_of(here, f"{slug}-{USUAL}")
    assert after[0] == 200


def test_a_stream_may_be_cut_at_every_byte(
    here: Served, taken: list[bool], handed: list[bool]
) -> None:
    with connected(here) as client:
        ask(client, "other-quick/in one")
        responses = [ask(client, f"any-quick/at {place}") for place in range(1, len(STREAM))]

    assert all(taken)
    assert not handed
    assert {status for status, _, _ in responses} == {200}
    assert {body for _, _, body in responses} == {STREAM}


def test_a_translated_stream_takes_the_fast_path(
    here: Served, taken: list[bool], handed: list[bool]
) -> None:
    with connected(here) as client:
        usual, express_way = ask(client, "claude/m"), ask(client, "claude/m")

    assert taken == [True]
    assert not handed
    assert usual[1] == express_way[1]
    assert words_in(usual[2]) == words_in(express_way[2]) == "Hi you"
    assert express_way[2].endswith(DONE)


def words_in(body: bytes) -> str:
    frames = [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: {")]
    deltas = [choice["delta"] for each in frames for choice in each["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


@pytest.mark.parametrize("way", [USUAL, EXPRESS])
def test_a_first_event_may_be_an_image_of_megabytes(here: Served, way: str) -> None:
    with connected(here) as client:
        if way == EXPRESS:
            ask(client, "other-quick/in one")
        status, _, body = ask(client, f"any-{way}/an image")

    assert status == 200
    assert body == b"".join((frame("iVBOR" * 600_000), *LAST))


def test_chunks_are_not_held_back(here: Served, taken: list[bool]) -> None:
    with connected(here) as client:
        ask(client, "other-quick/in one")
        began = time.monotonic()
        with client.stream(
            "POST", "/v1/chat/completions", json=body_of("any-quick/paced")
        ) as answer:
            times = [time.monotonic() - began for _ in answer.iter_raw()]

    assert taken == [True]
    assert len(times) >= len(WORDS)
    assert times[-1] - times[0] > 0.1


@pytest.mark.parametrize("words", [0, 3])
def test_a_client_disconnect_is_recorded_and_closes_the_vendor_connection(
    here: Served, taken: list[bool], words: int
) -> None:
    vendor = here.vendors["any"]
    before, gone = vendor.script, vendor.gone
    with connected(here) as client:
        ask(client, "other-quick/in one")
    with connect(here.url) as peer:
        send_bytes(peer, posting("other-quick/in one"))
        read_response(peer, 10, until=b"0\r\n\r\n")
        vendor.script = lambda received: MockResponse.stream(*WORDS[:words], hang=True)
        send_bytes(peer, posting("other-usual/good"))
        _until(lambda: len(taken) == 1)
        if words:
            read_response(peer, 10, until=WORDS[words - 1])
    try:
        _until(lambda: vendor.gone > gone)
    finally:
        vendor.script = before

    assert taken == [True]
    row = row_of(here, "other-usual")
    assert (row["status"], row["http_status"]) == ("client_gone", "499")
    assert (row["output_tokens"] != "0") is bool(words)


def posting(model: str) -> bytes:
    body = json.dumps(body_of(model)).encode()
    return (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )


def test_a_client_that_reads_late_gets_the_whole_stream(
    here: Served, taken: list[bool], handed: list[bool]
) -> None:
    vendor = here.vendors["any"]
    before, many = vendor.script, [frame(f"{number}" + "x" * 30_000) for number in range(300)]
    with connect(here.url) as peer:
        send_bytes(peer, posting("other-quick/in one"))
        read_response(peer, 10, until=b"0\r\n\r\n")
        vendor.script = lambda received: MockResponse.stream(*many, *LAST)
        try:
            send_bytes(peer, posting("any-quick/good"))
            _until(lambda: bool(handed))
        finally:
            vendor.script = before
        data, until = b"", time.monotonic() + 10
        while not data.endswith(b"0\r\n\r\n") and time.monotonic() < until:
            data += peer.recv(1 << 20)

    assert taken == [True]
    assert unchunked(data) == b"".join((*many, *LAST))
    assert row_of(here, "any-quick")["status"] == "ok"


def unchunked(answer: bytes) -> bytes:
    body, rest = b"", answer.partition(b"\r\n\r\n")[2]
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if size == b"0":
            return body
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]


def test_requests_behind_a_stream_are_answered_in_their_order(
    here: Served, taken: list[bool]
) -> None:
    with connect(here.url) as peer:
        send_bytes(peer, posting("other-quick/in one"))
        read_response(peer, 10, until=b"0\r\n\r\n")
        send_bytes(peer, posting("any-quick/paced"))
        _until(lambda: taken == [True])
        send_bytes(peer, posting("other-quick/in one"))
        response = read_response(peer, 2, until=b"word 7")
        rest = read_response(peer, 2, until=DONE + b"\r\n0\r\n\r\nHTTP/1.1 200")

    data = response.data + rest.data
    assert data.index(b"word 7") < data.rindex(b"HTTP/1.1 200")


def test_a_stop_lets_a_stream_finish(
    tmp_path_factory: pytest.TempPathFactory, taken: list[bool]
) -> None:
    with (
        serve_gateway(tmp_path_factory.mktemp("stop"), {"any": script}, specs=specs) as here,
        connect(here.url) as peer,
    ):
        send_bytes(peer, posting("other-quick/in one"))
        read_response(peer, 10, until=b"0\r\n\r\n")
        send_bytes(peer, posting("any-quick/paced"))
        first = read_response(peer, 5, until=WORDS[0])
        here.loop.call_soon_threadsafe(here.stop.set)
        rest = read_response(peer, 5)

    assert taken == [True]
    assert all(piece in first.data + rest.data for piece in (*WORDS, DONE))
    assert rest.closed


@pytest.mark.parametrize("fault", [RuntimeError, SystemExit])
@pytest.mark.parametrize("place", ["feed", "close"])
@pytest.mark.parametrize("when", [1, 4])
def test_a_failing_plugin_ends_its_stream_the_same_on_both_paths(
    here: Served,
    taken: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: type[BaseException],
    place: str,
    when: int,
) -> None:
    calls = 0
    works = getattr(PassThrough, place)

    def breaks(self: Exchange, *words: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls >= (when if place == "feed" else 1):
            raise fault("broken by a test")
        return works(self, *words)

    heard: list[Heard] = []
    for way in (USUAL, EXPRESS):
        with connected(here) as client:
            if way == EXPRESS:
                ask(client, "other-quick/in one")
            with monkeypatch.context() as patch:
                calls = 0
                patch.setattr(PassThrough, place, breaks)
                patch.setattr(
                    "gateway_core.pipeline.direct_stream.passing_of", lambda exchange: None
                )
                heard.append(ask(client, f"good-{way}/paced"))
            _until(lambda: not here.gateway.core.in_flight)

    assert taken == [True]
    assert heard[0] == heard[1]
    assert row_of(here, "good-quick") == row_of(here, "good-usual")
