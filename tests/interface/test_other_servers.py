"""Answers and streams of an embedded gateway are what they are, whichever server carries them."""

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import islice
from typing import Any

import httpx2
import plain_readers
import pytest
from corpus import Item, answer, items
from custom_node import END, EVENT
from fake_vendor import MockResponse, ReceivedRequest
from other_servers import (
    OVER_HTTP_1,
    OVER_HTTP_2,
    SERVERS,
    Guest,
    Lockstep,
    Reader,
    embedded,
    queued,
    until,
)
from served_gateway import keyless_provider

from gateway_core.pipeline import client_response as clients
from gateway_core.pipeline.fast_path import stream as streaming

EARLY, BEAT = 0.25, 0.1
"""Seconds: until a stream opens by itself here, and between the signs of life."""
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
CROWD = 200
WORD = EVENT % b"word"
ERROR = b'data: {"error":{"message":"no room","type":"overloaded"}}\n\n'
KEEP = 3 * 256 * 1024
"""Bytes: two reads of an answer, and what the server keeps; with the gateway's own server too."""
COUNTED = {"stream_options": {"include_usage": True}}


def recorded(wire: str, is_stream: bool, most: int) -> dict[str, Item]:
    """Answers that vendors gave without a fault, by name."""
    good = (
        each
        for each in items(wire)
        if each["response_status"] == 200
        and each["stream"] is is_stream
        and not any("error" in feature for feature in each["features"])
        and plain_readers.read("openai", answer(each), stream=is_stream).input_tokens
    )
    return {each["id"]: each for each in islice(good, most)}


STREAMS = recorded("openai_chat", True, 4)
WHOLE = recorded("openai_chat", False, 3)
VENDORS: dict[str, Callable[[], MockResponse]] = {
    "refuses": lambda: MockResponse((b'{"error":{"message":"too much","type":"x"}}',), 422),
    "fails": lambda: MockResponse((b"",), 500),
    "breaks": lambda: MockResponse.stream(WORD, ERROR, pause=0.01),
    "is cut": lambda: MockResponse.stream(WORD, WORD, cut=True, pause=0.01),
    "is late": lambda: MockResponse.stream(WORD, END, delay=EARLY + 6 * BEAT),
    "refuses late": lambda: MockResponse((b'{"error":{"message":"no"}}',), 422, delay=2 * EARLY),
    "never answers": lambda: MockResponse(delay=60),
    "waits": lambda: MockResponse.stream(WORD, END, delay=0.3),
}


def script(received: ReceivedRequest) -> MockResponse:
    name = received.json()["model"]
    if name in STREAMS:
        whole = answer(STREAMS[name])
        return MockResponse.stream(*(whole[at : at + 777] for at in range(0, len(whole), 777)))
    return MockResponse((answer(WHOLE[name]),)) if name in WHOLE else VENDORS[name]()


@pytest.fixture(scope="module")
def step() -> Iterator[Lockstep]:
    with closing(Lockstep()) as vendor:
        yield vendor


@pytest.fixture(scope="module", params=SERVERS)
def place(
    request: pytest.FixtureRequest, step: Lockstep, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clients, "EARLY_AFTER", EARLY)
        patch.setattr(streaming, "EARLY_AFTER", EARLY)
        with embedded(
            request.param,
            tmp_path_factory.mktemp("guest"),
            {"openai": script},
            specs=lambda vendors: [keyless_provider("openai", vendors["openai"]), step.provider()],
            variables={"SSE_KEEPALIVE_MS": str(int(BEAT * 1000))},
        ) as guest:
            yield guest


@pytest.fixture
def guest(place: Guest, caplog: pytest.LogCaptureFixture) -> Iterator[Guest]:
    """In the end nothing is under way, and no server has had to complain."""
    place.here.gateway.core.cooldowns.clear(["v-openai:public", "step-openai:public"], "__all")
    yield place
    until(lambda: not place.here.gateway.core.in_flight)
    loud = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert not loud, [each.getMessage() for each in loud]


@pytest.fixture
def http(guest: Guest) -> Iterator[httpx2.Client]:
    with guest.client() as client:
        yield client


def asking(model: str, provider: str = "v-openai") -> bytes:
    return json.dumps(body_of(model, stream=True, provider=provider)).encode()


def body_of(model: str, *, stream: bool = False, provider: str = "v-openai") -> dict[str, Any]:
    messages = [{"role": "user", "content": "hello"}]
    body = {"model": f"{provider}/{model}", "messages": messages, "max_tokens": 9}
    return {**body, "stream": True, **COUNTED} if stream else body


@pytest.mark.parametrize("name", WHOLE)
def test_an_answer_arrives_byte_for_byte(guest: Guest, http: httpx2.Client, name: str) -> None:
    reported = http.post(CHAT, json=body_of(name))

    assert (reported.status_code, reported.http_version) == (
        200,
        f"HTTP/{2 if guest.is_http2 else 1.1}",
    )
    assert reported.content == answer(WHOLE[name])
    row = guest.here.rows()[0]
    assert (row.status, row.request_id) == ("ok", reported.headers["x-request-id"])
    assert (
        row.input_tokens
        == plain_readers.read("openai", reported.content, stream=False).input_tokens
    )


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_arrives_byte_for_byte(guest: Guest, http: httpx2.Client, name: str) -> None:
    reported = http.post(CHAT, json=body_of(name, stream=True))

    assert reported.status_code == 200
    assert reported.headers["content-type"].startswith("text/event-stream")
    assert reported.content == answer(STREAMS[name])
    row = guest.here.rows()[0]
    assert (row.status, row.request_id) == ("ok", reported.headers["x-request-id"])
    assert (
        row.output_tokens
        == plain_readers.read("openai", reported.content, stream=True).output_tokens
    )


@pytest.mark.parametrize("name", [next(iter(WHOLE)), next(iter(STREAMS))], ids=["whole", "stream"])
def test_an_answer_may_be_asked_for_in_another_format(http: httpx2.Client, name: str) -> None:
    is_stream = name in STREAMS
    source = plain_readers.read("openai", answer((STREAMS | WHOLE)[name]), stream=is_stream)

    reported = http.post(MESSAGES, json=body_of(name, stream=is_stream))

    heard = plain_readers.read("claude", reported.content, stream=is_stream)
    assert reported.status_code == 200
    assert heard.text == source.text
    assert (heard.input_tokens, heard.output_tokens) == (source.input_tokens, source.output_tokens)


class Talk:
    """A stream of which the client has heard all that the vendor has said."""

    def __init__(self, http: httpx2.Client, step: Lockstep, stack: ExitStack) -> None:
        received = http.stream("POST", CHAT, json=body_of("m", stream=True, provider="step-openai"))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        coming = pool.submit(stack.enter_context, received)
        step.hear()
        step.begin()
        step.say(WORD)
        self.reported: httpx2.Response = coming.result(10)
        self.pieces = self.reported.iter_raw()
        assert next(self.pieces) == WORD


def test_each_piece_arrives_before_the_next_has_left_the_vendor(
    http: httpx2.Client, step: Lockstep
) -> None:
    written = [EVENT % b"%d" % number for number in range(20)]
    with ExitStack() as stack:
        talk = Talk(http, step, stack)
        heard = []
        for piece in written:
            step.say(piece)
            heard.append(next(talk.pieces))

    assert heard == written


def test_a_client_that_leaves_in_mid_stream_ends_what_the_vendor_does(
    guest: Guest, step: Lockstep
) -> None:
    with guest.client() as client, ExitStack() as stack:
        Talk(client, step, stack)
        client.close()

        assert step.was_left()

    until(lambda: not guest.here.gateway.core.in_flight)
    row = guest.here.rows()[0]
    assert (row.provider, row.status, row.http_status) == ("step-openai", "client_gone", 499)
    assert row.input_tokens > 0
    assert 0 < row.output_tokens < 9
    assert row.estimated


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
def test_a_client_that_leaves_before_its_answer_ends_what_the_vendor_does(
    guest: Guest, step: Lockstep, is_stream: bool
) -> None:
    if is_stream:  # Signs of life would keep a client from giving up by itself.
        with closing(Reader(guest)) as reader:
            reader.ask(asking("m", provider="step-openai"))
            step.hear()
    else:
        body = body_of("m", provider="step-openai")
        with ThreadPoolExecutor(1) as pool, guest.client() as client:
            coming = pool.submit(client.post, CHAT, json=body, timeout=0.3)
            step.hear()
            with pytest.raises(httpx2.TimeoutException):
                coming.result(10)
    assert step.was_left()

    until(lambda: not guest.here.gateway.core.in_flight)
    row = guest.here.rows()[0]
    assert (row.provider, row.status, row.http_status) == ("step-openai", "client_gone", 499)
    assert row.output_tokens == 0


@OVER_HTTP_2
def test_a_client_may_leave_one_stream_and_keep_another(guest: Guest, step: Lockstep) -> None:
    with closing(Reader(guest)) as reader:
        number = reader.ask(asking("m", provider="step-openai"))
        step.hear()
        step.begin()
        step.say(WORD)
        while WORD not in reader.take():
            pass
        reader.reset(number)
        assert step.was_left()
        other, taken = reader.ask(asking("waits")), b""
        while other not in reader.ended:
            taken += reader.take()

    # On a busy machine the answer may take longer than the two seconds without a sign of life.
    assert taken.replace(b": keepalive\n\n", b"") == WORD + END
    rows = guest.here.rows()[:2]
    assert [row.status for row in rows] == ["ok", "client_gone"]


@OVER_HTTP_1
def test_a_slow_reader_holds_the_vendor_back(guest: Guest, step: Lockstep) -> None:
    piece = EVENT % (b"x" * 60_000)
    with closing(Reader(guest)) as reader:
        reader.ask(asking("m", provider="step-openai"))
        step.hear()
        step.begin()
        taken = step.offers(b"%x\r\n%b\r\n" % (len(piece), piece) * 1000, 0.4)
        kept = taken - queued(step.port) - queued(reader.port)
        reader.close()

        assert step.was_left()

    assert 0 < kept < KEEP


def test_a_failure_before_the_stream_keeps_its_status(http: httpx2.Client) -> None:
    whole, streamed = (http.post(CHAT, json=body_of("refuses", stream=s)) for s in (False, True))
    claude = http.post(MESSAGES, json=body_of("refuses", stream=True))
    broken = http.post(CHAT, json=body_of("fails", stream=True))

    assert [whole.status_code, streamed.status_code, claude.status_code] == [422, 422, 422]
    assert broken.status_code >= 500
    assert "too much" in streamed.json()["error"]["message"]
    assert claude.json()["type"] == "error"
    for reported in (whole, streamed, broken):
        assert reported.json()["error"]["request_id"] == reported.headers["x-request-id"]


@pytest.mark.parametrize(("name", "status"), [("breaks", "error"), ("is cut", "upstream_cut")])
def test_a_failure_in_mid_stream_is_told_in_the_stream(
    guest: Guest, http: httpx2.Client, name: str, status: str
) -> None:
    reported = http.post(CHAT, json=body_of(name, stream=True))

    assert reported.status_code == 200
    assert reported.content.startswith(WORD)
    assert b'"error"' in reported.content
    assert b"[DONE]" not in reported.content
    assert guest.here.rows()[0].status == status


def test_a_late_stream_opens_early_and_is_kept_alive(http: httpx2.Client) -> None:
    reported = http.post(MESSAGES, json=body_of("is late", stream=True))

    assert reported.status_code == 200
    assert reported.content.startswith(b"event: ping\n")
    assert reported.content.count(b"event: ping\n") >= 3
    assert plain_readers.read("claude", reported.content, stream=True).text == "word"


def test_a_refusal_after_a_stream_opened_is_an_event(http: httpx2.Client) -> None:
    reported = http.post(MESSAGES, json=body_of("refuses late", stream=True))

    assert reported.status_code == 200
    assert reported.content.startswith(b"event: ping\n")
    assert b"event: error\n" in reported.content


def test_a_client_may_leave_a_stream_that_was_opened_early(
    guest: Guest, http: httpx2.Client
) -> None:
    vendor = guest.here.vendors["openai"]
    gone = vendor.gone
    with (
        guest.client() as client,
        client.stream("POST", MESSAGES, json=body_of("never answers", stream=True)) as reported,
    ):
        assert next(reported.iter_raw()).startswith(b"event: ping\n")
        client.close()

        until(lambda: vendor.gone > gone)

    until(lambda: not guest.here.gateway.core.in_flight)
    row = guest.here.rows()[0]
    assert (row.status, row.http_status, row.output_tokens) == ("client_gone", 499, 0)


def test_hundreds_are_served_at_once(guest: Guest) -> None:
    vendor = guest.here.vendors["openai"]
    before = len(vendor.received)
    lines = 4 if guest.is_http2 else CROWD
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(Reader(guest))) for _ in range(lines)]
        for number in range(CROWD):
            readers[number % lines].ask(asking("waits"))
        heard = [taken(reader, CROWD // lines) for reader in readers]

    assert {each.count(WORD) for each in heard} == {CROWD // lines}
    assert len(vendor.received) - before == CROWD


def taken(reader: Reader, streams: int) -> bytes:
    """All that so many streams say."""
    data = b""
    while data.count(b"[DONE]") < streams:
        data += reader.take()
    return data
