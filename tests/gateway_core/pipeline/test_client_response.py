"""The client's side of a request: its body, its stream, its leaving."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from body_packers import PACKERS, pack_raw
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import BadRequest, GatewayError, KeepAlive
from gateway_core.contracts.errors import BodyTooLarge, UnsupportedMedia
from gateway_core.pipeline import client_response as module
from gateway_core.pipeline.client_response import ClientGone, ClientResponse, headers_of
from gateway_core.pipeline.request_body import inflate, read_body
from gateway_core.upstream.body_buffer import LARGE, keep_room


def reading(pieces: list[bytes], headers: dict[str, str], limit: int, gone: bool = False) -> bytes:
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": piece, "more_body": gone or number < len(pieces)}
        for number, piece in enumerate(pieces, 1)
    ]
    messages += [{"type": "http.disconnect"}] * gone

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    return asyncio.run(read_body(receive, headers, limit))


def talk(work: Callable[[ClientResponse], Awaitable[None]], *, broken: str = "") -> list[Any]:
    """What is sent while a client is talked to."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        if message["type"] == broken:
            raise OSError("broken pipe")
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def main() -> None:
        client = ClientResponse(receive, send, "id-1")
        try:
            await work(client)
        finally:
            await client.close()

    asyncio.run(main())
    return sent


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=5))
def test_a_body_is_whole_however_it_arrives(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)

    assert reading(pieces, {}, len(whole)) == whole
    if whole:
        with pytest.raises(BodyTooLarge):
            reading(pieces, {}, len(whole) - 1)


def test_an_announced_length_is_refused_before_anything_is_read() -> None:
    with pytest.raises(BodyTooLarge):
        reading([], {"content-length": "11"}, 10)


def test_a_client_that_leaves_in_its_body_is_gone() -> None:
    with pytest.raises(ClientGone):
        reading([b"x"], {}, 10, gone=True)


@pytest.mark.parametrize(
    ("coding", "pack"),
    [*PACKERS.items(), ("x-gzip", gzip.compress), ("deflate", pack_raw)],
)
def test_a_compressed_body_is_inflated(coding: str, pack: Callable[[bytes], bytes]) -> None:
    assert reading([pack(b"hello")], {"content-encoding": coding}, 1000) == b"hello"
    assert reading([b"plain"], {"content-encoding": "identity"}, 1000) == b"plain"


@pytest.mark.parametrize(
    ("body", "coding", "error"),
    [
        (b"x", "compress", UnsupportedMedia),
        (b"x", "gzip", BadRequest),
        (b"", "gzip", BadRequest),
        (gzip.compress(b"hello", mtime=0)[:-3], "gzip", BadRequest),
        (gzip.compress(b"hello", mtime=0) + b"more", "gzip", BadRequest),
        (gzip.compress(bytes(1_000_000), mtime=0), "gzip", BodyTooLarge),
        (gzip.compress(bytes(3000), mtime=0), "gzip", BodyTooLarge),
        *((pack(bytes(1_000_000)), coding, BodyTooLarge) for coding, pack in PACKERS.items()),
        *((pack(b"hello")[:-1], coding, BadRequest) for coding, pack in PACKERS.items()),
        *((b"\xff\xfe no", coding, BadRequest) for coding in PACKERS),
    ],
)
def test_a_body_that_does_not_inflate_is_refused(
    body: bytes, coding: str, error: type[GatewayError]
) -> None:
    with pytest.raises(error):
        inflate(body, coding, 2000)


def test_a_small_body_does_not_become_a_hundred_times_as_large() -> None:
    packed = gzip.compress(bytes(100_000))

    with pytest.raises(BodyTooLarge):
        inflate(packed, "gzip", 10_000_000)


def test_a_body_that_never_ends_is_not_kept() -> None:
    taken = list[int]()

    async def receive() -> dict[str, Any]:
        taken.append(1)
        assert len(taken) < 20
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    with pytest.raises(BodyTooLarge):
        asyncio.run(read_body(receive, {}, 1000))

    assert len(taken) == 11


def test_header_names_are_as_the_server_gives_them_and_the_last_counts() -> None:
    scope = {"headers": [(b"a", b"1"), (b"b", b"\xe9"), (b"a", b"2")]}

    assert headers_of(scope) == {"a": "2", "b": "é"}


def test_a_whole_answer() -> None:
    async def work(client: ClientResponse) -> None:
        await client.answer(400, b"no", ((b"content-type", b"t"),))

    head, body = talk(work)

    assert head["status"] == 400
    assert dict(head["headers"]) == {
        b"content-type": b"t",
        b"content-length": b"2",
        b"x-request-id": b"id-1",
        b"cache-control": b"no-store",
        b"x-content-type-options": b"nosniff",
    }
    assert body == {"type": "http.response.body", "body": b"no", "more_body": False}


def test_a_stream_has_one_head_and_one_end() -> None:
    async def work(client: ClientResponse) -> None:
        await client.begin(((b"content-type", b"text/x"), (b"x-a", b"1")), b"one")
        await client.write(b"")
        await client.write(b"two")
        await client.end(b"three")
        assert client.sent == 11

    head, *bodies = talk(work)

    assert dict(head["headers"])[b"content-type"] == b"text/x"
    assert dict(head["headers"])[b"cache-control"] == b"no-cache, no-store, no-transform"
    assert [(each["body"], each["more_body"]) for each in bodies] == [
        (b"one", True),
        (b"two", True),
        (b"three", False),
    ]


def test_a_slow_vendors_stream_opens_early_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EARLY_AFTER", 0.0)

    async def work(client: ClientResponse) -> None:
        client.open_early(KeepAlive(frame=b": hi\n\n"), 0.0, "text/x")
        async with asyncio.timeout(5):
            while not client.sent:
                await asyncio.sleep(0)
        await client.begin(((b"content-type", b"text/y"),), b"one")
        await client.end()

    sent = talk(work)

    assert [each["type"] for each in sent].count("http.response.start") == 1
    assert dict(sent[0]["headers"])[b"content-type"] == b"text/x"
    assert [each["body"] for each in sent[1:]] == [b": hi\n\n", b"one", b""]


def test_nothing_comes_between_the_parts_of_a_long_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow client takes one part, and the next only after a silence would have been filled."""
    monkeypatch.setattr(module, "EARLY_AFTER", 0.0)
    bodies: list[bytes] = []

    async def main() -> None:
        beats = asyncio.Semaphore(0)

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                bodies.append(message["body"])
                if message["body"].startswith(b"x"):
                    await beats.acquire()
                    await beats.acquire()

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        client = ClientResponse(receive, send, "id-1")
        watch = client._watch_silence

        def watched(longest: float) -> None:
            beats.release()
            watch(longest)

        monkeypatch.setattr(client, "_watch_silence", watched)
        client.opened = True
        client.open_early(KeepAlive(frame=b": hi\n\n", throughout=True), 0.01, "text/x")
        await client.write(b"x" * 2 * module.SLICE)
        await client.end()
        await client.close()

    asyncio.run(main())

    assert [len(each) for each in bodies] == [module.SLICE, module.SLICE, 0]


def test_a_quick_answer_is_never_preceded_by_a_keep_alive() -> None:
    async def work(client: ClientResponse) -> None:
        client.open_early(KeepAlive(frame=b": hi\n\n"), 10.0, "text/x")
        await client.begin(((b"content-type", b"text/y"),), b"one")
        await client.end()

    assert [each.get("body") for each in talk(work)] == [None, b"one", b""]


def test_a_long_last_piece_goes_out_in_parts_too() -> None:
    async def work(client: ClientResponse) -> None:
        await client.begin(((b"content-type", b"text/x"),), b"")
        await client.end(b"x" * (2 * module.SLICE + 1))

    bodies = [each["body"] for each in talk(work)[1:]]

    assert [len(body) for body in bodies] == [module.SLICE, module.SLICE, 1, 0]


@pytest.mark.parametrize("broken", ["http.response.start", "http.response.body"])
def test_a_broken_connection_is_a_client_that_left(broken: str) -> None:
    async def work(client: ClientResponse) -> None:
        with pytest.raises(ClientGone):
            await client.begin(((b"content-type", b"text/x"),), b"one")
        assert client.gone
        if client.sent:
            with pytest.raises(ClientGone):
                await client.write(b"two")

    talk(work, broken=broken)


def test_a_client_that_leaves_cancels_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WATCH_AFTER", 0.0)

    async def work(client: ClientResponse) -> None:
        client.watch()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.Event().wait()
        assert client.gone

    talk(work)


def test_a_server_that_says_that_its_client_leaves_cancels_the_request() -> None:
    async def never(*message: object) -> Any:
        raise AssertionError("nothing is to be read or sent")

    async def main() -> tuple[bool, bool]:
        left: list[Callable[[], None]] = []
        client = ClientResponse(never, never, "id-1", leaving=left.append)
        client.watch()
        asyncio.get_running_loop().call_soon(left[0])
        with pytest.raises(asyncio.CancelledError):
            await asyncio.Event().wait()
        before = client.gone, client.release()
        left[0]()
        await asyncio.sleep(0)  # It is not cancelled once more.
        return before

    assert asyncio.run(main()) == (True, True)


def test_room_is_kept_for_the_next_once_a_long_event_has_gone_to_a_client() -> None:
    keep_room.cache_clear()

    talk(lambda client: client.write(b"x" * (LARGE - 1)))
    assert not keep_room.cache_info().currsize

    talk(lambda client: client.write(b"x" * LARGE))
    assert keep_room.cache_info().currsize
