"""Answers of servers that compress although nobody asked them to."""

import asyncio

import pytest
from body_packers import PACKERS, pack_stream

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream import content_codings
from gateway_core.upstream.transport import read_all

codings = pytest.mark.parametrize("coding", PACKERS)


def packed(coding, body):
    async def answer(peer):
        while (await peer.request())[0]:
            name = b"Content-Encoding: " + coding.upper().encode()
            await peer.answer(PACKERS[coding](body), name, b"x-kept: 1")

    return answer


@codings
def test_an_answer_is_decoded_and_its_connection_kept(run, serve, open_network, coding):
    async def scenario():
        async with serve(packed(coding, b"hello " * 99_999)) as server, open_network() as network:
            for _ in range(2):
                response = await network.transport().send(UpstreamRequest(url=server.url()))

                assert await read_all(response) == b"hello " * 99_999
                assert dict(response.headers) == {"x-kept": "1"}
                await response.aclose()
            assert server.accepted == 1

    run(scenario)


@codings
def test_an_answer_over_a_proxy_is_decoded(run, serve, open_network, http_proxy, coding):
    async def scenario():
        async with (
            serve(packed(coding, b"hello")) as server,
            serve(http_proxy) as proxy,
            open_network() as network,
        ):
            way = network.transport(f"http://127.0.0.1:{proxy.port}")
            response = await way.send(UpstreamRequest(url=server.url()))

            assert await read_all(response) == b"hello"
            await response.aclose()

    run(scenario)


@codings
def test_a_stream_is_decoded_as_it_comes(run, serve, open_network, coding):
    heard = asyncio.Semaphore(0)

    async def speak(peer):
        await peer.request()
        name = coding.encode()
        await peer.say(
            b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ntransfer-encoding: chunked\r\n\r\n" % name
        )
        for piece in pack_stream(coding, [b"one", b"two"]):
            await peer.say(b"%x\r\n%b\r\n" % (len(piece), piece))
            await heard.acquire()
        await peer.say(b"0\r\n\r\n")
        await peer.gone()

    async def scenario():
        async with serve(speak) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            words = []
            for _ in range(2):
                words.append(await response.next())
                heard.release()
            heard.release()

            assert words == [b"one", b"two"]
            assert await response.next() == b""

    run(scenario)


@codings
def test_a_cut_or_spoiled_body_is_an_error(run, serve, open_network, coding):
    async def scenario():
        for body, words in (
            (PACKERS[coding](b"hello " * 100)[:-2], "broke off"),
            (b"\xff\xfe no" * 99, "could not be decompressed"),
        ):

            async def answer(peer, body=body):
                await peer.request()
                await peer.answer(body, b"content-encoding: " + coding.encode())

            async with serve(answer) as server, open_network() as network:
                response = await network.transport().send(UpstreamRequest(url=server.url()))

                with pytest.raises(TransportError, match=words):
                    await read_all(response)
                await response.aclose()

    run(scenario)


def test_a_flood_is_given_in_small_pieces(run, serve, open_network):
    size = 64 * 2**20

    async def scenario():
        async with serve(packed("br", bytes(size))) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            read = largest = 0
            while piece := await response.next():
                read, largest = read + len(piece), max(largest, len(piece))

            assert read == size
            assert largest <= 256 * 1024

    run(scenario)


@pytest.mark.parametrize("status", [b"200 OK", b"429 Too Many Requests"])
def test_a_missing_package_is_named_unless_the_status_says_enough(
    run, serve, open_network, monkeypatch, status
):
    monkeypatch.delitem(content_codings.INFLATERS, "br")

    async def answer(peer):
        await peer.request()
        await peer.say(
            b"HTTP/1.1 %b\r\ncontent-encoding: br\r\ncontent-length: 2\r\n\r\nxx" % status
        )
        await peer.gone()

    async def scenario():
        async with serve(answer) as server, open_network() as network:
            request = UpstreamRequest(url=server.url())
            if status.startswith(b"4"):
                response = await network.transport().send(request)
                assert (response.status, await read_all(response)) == (429, b"xx")
                return
            with pytest.raises(TransportError, match="needs the package brotli"):
                await network.transport().send(request)

    run(scenario)


@pytest.mark.parametrize("word", [b"identity", b"", b"utf-8", b"none"])
def test_a_word_that_is_no_coding_changes_nothing(run, serve, open_network, word):
    async def answer(peer):
        await peer.request()
        await peer.answer(b"plain", b"content-encoding: " + word)

    async def scenario():
        async with serve(answer) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))

            assert await read_all(response) == b"plain"

    run(scenario)


def test_the_head_of_a_coded_answer_may_stand_alone(run, serve, open_network):
    async def answer(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n")
        await peer.gone()

    async def scenario():
        async with serve(answer) as server, open_network() as network:
            request = UpstreamRequest(url=server.url(), method="HEAD")
            response = await network.transport().send(request)

            assert (response.status, await read_all(response)) == (200, b"")

    run(scenario)
