"""What every carrier keeps to, whichever way the bytes take."""

import asyncio
import gzip

import pytest

from gateway_core.config.temporary_file import TemporaryFile
from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import BodyParts, UpstreamRequest
from gateway_core.upstream.transport import MalformedRequest, MalformedUrl, read_all

CARRIERS = ["direct", "http2", "http proxy", "socks5 proxy"]


@pytest.fixture(params=CARRIERS)
def carry(request, serve, open_network, http_proxy, socks_proxy, trusting, run):
    """Run ``scenario(transport, server)`` with a server behind the carrier."""

    def go(handler, scenario, **limits):
        handlers = {"http proxy": http_proxy, "socks5 proxy": socks_proxy}
        proxy = handlers.get(request.param)

        async def whole():
            async with serve(handler) as server, open_network(tls=trusting, **limits) as network:
                if proxy is None:
                    transport = network.transport(http2=request.param == "http2")
                    await scenario(transport, server)
                    return
                async with serve(proxy) as middle:
                    way = f"{proxy.scheme}://127.0.0.1:{middle.port}"
                    await scenario(network.transport(way), server)

        run(whole)

    return go


def answering(data):
    async def handler(peer):
        while (await peer.request())[0]:
            await peer.say(data)
            if b"\r\n\r\n" not in data or b"content-length" not in data.lower():
                return

    return handler


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Two: a\r\nX-Two: b\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
WHOLE = {
    "length": HEAD + b"content-length: 5\r\n\r\nhello",
    "chunked": HEAD + CHUNKED,
    "until close": HEAD + b"\r\nhello",
    "interim": b"HTTP/1.1 103 Early Hints\r\n\r\n" + HEAD + b"content-length: 5\r\n\r\nhello",
}


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_an_answer_has_status_headers_and_body(carry, fetch, data):
    async def scenario(transport, server):
        response = await transport.send(UpstreamRequest(url=server.url(), body=b"x"))

        assert response.status == 200
        assert response.headers["content-type"] == "text/plain"
        assert response.headers["x-two"] == "a, b"
        assert await read_all(response) == b"hello"
        assert await response.next() == b""
        await response.aclose()
        assert await response.next() == b""

    carry(answering(data), scenario)


@pytest.mark.parametrize("size", [5, 3 * 2**20 + 7])
def test_a_body_that_is_partly_in_a_file_arrives_whole(carry, fetch, size, tmp_path):
    file = TemporaryFile(tmp_path)
    content = (bytes(range(256)) * (size // 256 + 1))[:size]
    file.write(content)
    seen = []

    async def record(peer):
        seen.append((await peer.request())[1])
        await peer.answer()

    async def scenario(transport, server):
        parts = BodyParts((b"before ", file, b" behind"))
        assert await fetch(transport, server.url(), parts=parts) == b"ok"
        assert seen == [b"before " + content + b" behind"]

    carry(record, scenario)
    file.close()


@pytest.mark.parametrize("status", [204, 304, 400, 401, 429, 500, 503])
def test_every_final_status_is_an_answer(carry, fetch, status):
    async def scenario(transport, server):
        response = await transport.send(UpstreamRequest(url=server.url(), method="GET"))

        assert response.status == status
        assert await response.next() == b""
        await response.aclose()

    carry(answering(b"HTTP/1.1 %d X\r\ncontent-length: 0\r\n\r\n" % status), scenario)


BROKEN = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-",
    "short body": HEAD + b"content-length: 50\r\n\r\nhello",
    "short chunk": HEAD + b"transfer-encoding: chunked\r\n\r\nff\r\nhello",
    "no last chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "bad chunk": HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "bad length": HEAD + b"content-length: five\r\n\r\nhello",
    "two lengths": HEAD + b"content-length: 1\r\ncontent-length: 5\r\n\r\nhello",
    "no http": b"hello\r\n\r\n",
    "large head": HEAD + b"x: " + b"y" * 70_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_an_error(carry, fetch, data):
    async def once(peer):
        await peer.request()
        await peer.say(data)

    async def scenario(transport, server):
        with pytest.raises(TransportError) as caught:
            await fetch(transport, server.url(), body=b"x")

        assert (caught.value.status, caught.value.sent) == (502, True)

    carry(once, scenario)


def test_what_came_before_a_cut_is_given_before_the_error(carry):
    async def cut(peer):
        await peer.request()
        await peer.say(HEAD + b"content-length: 50\r\n\r\nhello")
        await peer.pause()

    async def scenario(transport, server):
        response = await transport.send(UpstreamRequest(url=server.url()))

        assert await response.next() == b"hello"
        for _ in range(2):
            with pytest.raises(TransportError, match="broke off"):
                await response.next()
        await response.aclose()

    carry(cut, scenario)


def test_silence_before_the_head_is_a_timeout(carry, fetch):
    async def scenario(transport, server):
        with pytest.raises(TransportError, match="did not answer in time") as caught:
            await fetch(transport, server.url())

        assert (caught.value.status, caught.value.sent) == (504, True)

    carry(lambda peer: peer.gone(), scenario, first_byte=0.05)


def test_silence_in_the_body_is_a_timeout_of_its_own(carry):
    async def stall(peer):
        await peer.request()
        await peer.say(HEAD + b"content-length: 50\r\n\r\n")
        await peer.gone()

    async def scenario(transport, server):
        request = UpstreamRequest(url=server.url(), first_byte_timeout=10.0)
        response = await transport.send(request)

        with pytest.raises(TransportError, match="fell silent") as caught:
            await response.next()

        assert caught.value.status == 504
        await response.aclose()

    carry(stall, scenario, silence=0.05)


def test_a_short_patience_ends_with_the_head(carry, fetch):
    async def slow_body(peer):
        await peer.request()
        await peer.say(HEAD + b"content-length: 2\r\n\r\n")
        await asyncio.sleep(0.3)
        await peer.say(b"ok")

    async def scenario(transport, server):
        assert await fetch(transport, server.url(), first_byte_timeout=0.2) == b"ok"

    carry(slow_body, scenario)


@pytest.mark.parametrize("moment", ["head", "body"])
def test_cancelling_closes_the_connection(carry, moment):
    ended = None

    async def notice(peer):
        await peer.request()
        if moment == "body":
            await peer.say(HEAD + b"content-length: 9\r\n\r\n")
        await peer.gone()
        ended.set()

    async def scenario(transport, server):
        nonlocal ended
        ended = asyncio.Event()

        async def go():
            response = await transport.send(UpstreamRequest(url=server.url()))
            try:
                await response.next()
            finally:
                await response.aclose()

        task = asyncio.create_task(go())
        await asyncio.sleep(0.05)
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 1)

    carry(notice, scenario)


def test_an_answer_whose_reader_was_cancelled_never_seems_whole(carry):
    async def stall(peer):
        await peer.request()
        await peer.say(HEAD + b"\r\nhello")
        await peer.gone()

    async def scenario(transport, server):
        response = await transport.send(UpstreamRequest(url=server.url()))
        assert await response.next() == b"hello"
        task = asyncio.create_task(response.next())
        await asyncio.sleep(0.01)
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(TransportError, match="closed before"):
            await response.next()
        await response.aclose()

    carry(stall, scenario)


def test_closing_early_drops_the_connection(carry):
    ended = None

    async def endless(peer):
        await peer.request()
        await peer.say(HEAD + b"content-length: 50\r\n\r\nhello")
        await peer.gone()
        ended.set()

    async def scenario(transport, server):
        nonlocal ended
        ended = asyncio.Event()
        response = await transport.send(UpstreamRequest(url=server.url()))
        await response.next()

        await response.aclose()

        await asyncio.wait_for(ended.wait(), 1)
        with pytest.raises(TransportError, match="closed before"):
            await response.next()

    carry(endless, scenario)


def test_redirects_are_not_followed(carry):
    async def scenario(transport, server):
        response = await transport.send(UpstreamRequest(url=server.url(), method="GET"))

        assert response.status == 307
        assert await response.next() == b""
        await response.aclose()
        assert server.accepted == 1

    carry(answering(b"HTTP/1.1 307 X\r\nlocation: /\r\ncontent-length: 0\r\n\r\n"), scenario)


def test_cookies_are_not_kept(carry, fetch):
    seen = []

    async def give_cookie(peer):
        while (head := (await peer.request())[0]) != b"":
            seen.append(head)
            await peer.answer(b"ok", b"set-cookie: a=b; path=/")

    async def scenario(transport, server):
        for _ in range(2):
            await fetch(transport, server.url())

        assert not any(b"cookie" in head.lower() for head in seen)

    carry(give_cookie, scenario)


def test_compressed_bodies_are_decoded(carry, fetch):
    async def scenario(transport, server):
        headers = {"accept-encoding": "gzip"}
        assert await fetch(transport, server.url(), headers=headers) == b"an answer"

    body = gzip.compress(b"an answer", mtime=0)
    fields = b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)
    carry(answering(HEAD + fields + body), scenario)


def test_what_cannot_be_sent_is_refused_before_anything_is_sent(carry, polite, fetch):
    async def scenario(transport, server):
        with pytest.raises(MalformedUrl):
            await fetch(transport, server.url("/ x"))
        with pytest.raises(MalformedRequest):
            await fetch(transport, server.url(), headers={"a": "b\r\nc: d"})
        with pytest.raises(MalformedRequest):
            await fetch(transport, server.url(), method="GET /\r\n")

        assert server.accepted == 0

    carry(polite, scenario)


def test_large_bodies_pass_both_ways(carry, fetch):
    body = bytes(range(256)) * 8192

    async def echo(peer):
        _, received = await peer.request()
        await peer.answer(received)

    async def scenario(transport, server):
        assert await fetch(transport, server.url(), body=body) == body

    carry(echo, scenario)


@pytest.mark.parametrize("end", ["timeout", "cancellation"])
def test_a_handshake_that_stalls_leaves_nothing(carry, fetch, end):
    async def scenario(transport, server):
        task = asyncio.create_task(fetch(transport, f"https://127.0.0.1:{server.port}/"))
        await asyncio.sleep(0.05)
        if end == "cancellation":
            task.cancel()

        with pytest.raises((TransportError, asyncio.CancelledError)):
            await task

    connect = 0.1 if end == "timeout" else 10.0
    carry(lambda peer: peer.gone(), scenario, connect=connect)
