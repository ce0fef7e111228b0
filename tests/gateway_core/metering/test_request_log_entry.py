"""What is kept of a request."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from gateway_core import Kind
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.contracts.provider import Call
from gateway_core.metering.request_log_entry import LONGEST_TOOLS, Excerpt, RequestLogEntry
from gateway_core.pipeline.json_body import members_of
from gateway_core.storage.stores.request_details import RequestDetail

pytestmark = pytest.mark.anyio
KIB = 1024
SECRET = "hidden-canary-0001"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Answer:
    """A vendor's answer in pieces."""

    status = 200

    def __init__(self, pieces: Iterable[bytes], headers: Mapping[str, str] = {}) -> None:
        self.headers = headers
        self.is_closed = False
        self._pieces = iter(pieces)

    async def next(self) -> bytes:
        return next(self._pieces, b"")

    async def aclose(self) -> None:
        self.is_closed = True


def call(body: Any, **headers: str) -> Call:
    text = msgspec.json.encode(body)
    return Call(
        kind=Kind.LLM,
        format="openai",
        model="m",
        stream=False,
        body=text,
        members=members_of(text),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def received(body: bytes = b"{}", **headers: str) -> UpstreamRequest:
    url = f"https://user:{SECRET}@vendor.example/v1?key={SECRET}"
    return UpstreamRequest(url=url, headers=headers, body=body)


def written(detail: RequestLogEntry) -> RequestDetail:
    return detail.cut().written("r-1", "2027-01-15T08:00:00.000Z")


async def test_all_four_parts_are_kept() -> None:
    detail = RequestLogEntry(call({"model": "m"}, user_agent="test"), 5 * KIB)
    request = UpstreamRequest(url="https://vendor.example/v1", body=b'{"model":"v"}')
    answer = detail.hear(request, Answer([b'{"id"', b":1}"], {"x-id": "7"}), ())
    while await answer.next():
        pass
    detail.say(b"data: one\n\n")
    detail.say(b"data: two\n\n")

    row = written(detail)

    assert row.request == {"headers": {"user-agent": "test"}, "body": {"model": "m"}}
    assert row.provider_request == {
        "method": "POST",
        "url": "https://vendor.example/v1",
        "headers": {},
        "body": {"model": "v"},
    }
    assert row.provider_response == {"status": 200, "headers": {"x-id": "7"}, "body": {"id": 1}}
    assert row.response == {"body": "data: one\n\ndata: two\n\n"}


async def test_a_request_that_was_never_sent_on_has_one_part() -> None:
    row = written(RequestLogEntry(call({"model": "m"}), 5 * KIB))

    assert row.provider_request is row.provider_response is row.response is None


async def test_closing_reaches_the_vendors_answer() -> None:
    answer = Answer([])

    await RequestLogEntry(call({}), KIB).hear(received(), answer, ()).aclose()

    assert answer.is_closed


async def test_of_several_attempts_the_last_one_is_kept() -> None:
    detail = RequestLogEntry(call({}), KIB)
    first = detail.hear(received(b'{"try":1}'), Answer([b"1"]), ())
    await first.next()

    last = detail.hear(received(b'{"try":2}'), Answer([b"2"]), ())
    await last.next()

    row = written(detail)
    assert row.provider_request["body"] == {"try": 2}
    assert row.provider_response["body"] == 2


async def test_what_is_too_long_leaves_its_size_and_beginning() -> None:
    body = {"model": "m", "text": "ä" * 3000}

    row = written(RequestLogEntry(call(body), KIB))

    assert row.request["_truncated"] is True
    assert row.request["_originalSize"] == len(msgspec.json.encode(body))
    assert row.request["_preview"] == ('{"model":"m","text":"' + "ä" * 3000)[:200]
    assert "tools" not in row.request


async def test_tools_are_kept_beside_a_long_request() -> None:
    tools = [{"name": "look", "about": "x" * 2000}]

    row = written(RequestLogEntry(call({"text": "y" * 3000, "tools": tools}), KIB))

    assert row.request["tools"] == tools


async def test_too_many_tools_are_not_kept() -> None:
    body = {"tools": [{"about": "x" * LONGEST_TOOLS}]}

    assert "tools" not in written(RequestLogEntry(call(body), KIB)).request


@pytest.mark.parametrize("depth", [100, 600, 900, 2000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")], ids=["[", "{"])
async def test_what_is_nested_deep_is_kept_as_text_at_least(
    depth: int, opening: bytes, closing: bytes
) -> None:
    text = opening * depth + b'"sk-abcdef0123456789"' + closing * depth
    detail = RequestLogEntry(call({"tools": []}), 64 * KIB)
    await detail.hear(received(), Answer([text]), ()).next()

    kept = msgspec.json.encode(written(detail).provider_response).decode()

    assert (opening * 50).decode() in kept.replace("\\", "")
    assert "abcdef0123456789" not in kept


HIDDEN = (
    *("authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"),
    *("x-goog-api-key", "x-gateway-cli-token", "api-key", "x-amz-security-token"),
)


@pytest.mark.parametrize("name", HIDDEN)
async def test_a_header_that_may_be_secret_is_dropped(name: str) -> None:
    detail = RequestLogEntry(call({}, **{name: SECRET, "accept": "*/*"}), KIB)
    detail.hear(received(**{name: SECRET}), Answer([], {name: SECRET}), ())

    row = written(detail)

    assert row.request["headers"] == {"accept": "*/*"}
    assert row.provider_request["headers"] == row.provider_response["headers"] == {}


@pytest.mark.parametrize(
    "text",
    [
        f"my key is {SECRET}",
        "sk-abcdef0123456789",
        "Bearer abcdefgh.12345678",
        "eyJhbGciOi.eyJzdWIi.c2ln",
        "https://user:password@host/",
        "https://host/?a=b&key=0123456789",
    ],
)
@pytest.mark.parametrize("longest", [KIB, 64], ids=["whole", "cut"])
async def test_a_secret_in_a_text_is_masked(text: str, longest: int) -> None:
    detail = RequestLogEntry(call({"text": text, text: [text], "more": "x" * 100}), longest)
    answer = detail.hear(received(text.encode()), Answer([text.encode()]), (SECRET, "ab"))
    await answer.next()

    kept = msgspec.json.encode(written(detail)).decode()

    for secret in (SECRET, "abcdef0123456789", "12345678", "c2ln", "user:password", "0123456789"):
        assert secret not in kept


async def test_what_is_no_text_is_kept_as_well_as_it_can_be() -> None:
    detail = RequestLogEntry(call({}), KIB)
    detail.say(b"\xff\xfe{")

    assert written(detail).response == {"body": "��{"}


@given(some.lists(some.binary(max_size=50)), some.integers(0, 60))
def test_an_excerpt_is_the_beginning_and_knows_the_size(pieces: list[bytes], longest: int) -> None:
    excerpt = Excerpt(longest)

    for piece in pieces:
        excerpt.add(piece)

    whole = b"".join(pieces)
    assert excerpt.beginning == whole[:longest]
    assert excerpt.size == len(whole)
    assert excerpt.is_whole == (len(whole) <= longest)
