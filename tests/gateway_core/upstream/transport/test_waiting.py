"""How long the direct carrier waits, and what holds it back."""

import asyncio

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import read_all


def test_a_silent_server_is_given_up(run, serve, open_network, fetch):
    async def scenario():
        async with (
            serve(lambda peer: peer.gone()) as server,
            open_network(first_byte=0.05) as network,
        ):
            with pytest.raises(TransportError, match="did not answer in time") as caught:
                await fetch(network.transport(), server.url())

            assert (caught.value.status, caught.value.sent) == (504, True)
            assert caught.value.code == "gateway_timeout"

    run(scenario)


def test_a_request_may_bring_its_own_patience(run, serve, open_network, fetch):
    async def slow(peer):
        while (await peer.request())[0]:
            await asyncio.sleep(0.1)
            await peer.answer()

    async def scenario():
        async with serve(slow) as server, open_network(first_byte=0.02) as network:
            transport = network.transport()

            assert await fetch(transport, server.url(), first_byte_timeout=5.0) == b"ok"
            with pytest.raises(TransportError, match="did not answer in time"):
                await fetch(transport, server.url(), first_byte_timeout=0.03)

    run(scenario)


def test_an_answer_that_is_not_streamed_has_a_time_of_its_own(run, serve, open_network, fetch):
    async def slow(peer):
        while (await peer.request())[0]:
            await asyncio.sleep(0.1)
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no")
            await asyncio.sleep(0.1)
            await peer.say(b"k")

    async def scenario():
        limits = {"first_byte": 0.02, "silence": 0.02, "whole": 5.0}
        async with serve(slow) as server, open_network(**limits) as network:
            assert await fetch(network.transport(), server.url(), whole=True) == b"ok"
            with pytest.raises(TransportError, match="did not answer in time"):
                await fetch(network.transport(), server.url())

    run(scenario)


def test_a_request_may_bring_its_own_limit_of_silence(run, serve, open_network, fetch):
    async def stall(peer):
        while (await peer.request())[0]:
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no")
            await asyncio.sleep(0.1)
            await peer.say(b"k")

    async def scenario():
        async with serve(stall) as server, open_network(silence=0.02) as network:
            transport = network.transport()

            assert await fetch(transport, server.url(), silence_timeout=5.0) == b"ok"
            with pytest.raises(TransportError, match="fell silent"):
                await fetch(transport, server.url())

    run(scenario)


def test_interim_answers_do_not_prolong_the_wait(run, serve, open_network, fetch):
    async def dally(peer):
        await peer.request()
        while True:
            await peer.say(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await asyncio.sleep(0.02)

    async def scenario():
        async with serve(dally) as server, open_network(first_byte=0.1) as network:
            with pytest.raises(TransportError, match="did not answer in time"):
                await fetch(network.transport(), server.url())

    run(scenario)


def test_a_body_that_stalls_is_given_up(run, serve, open_network):
    async def stall(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello")
        await peer.gone()

    async def scenario():
        async with serve(stall) as server, open_network(silence=0.05) as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))

            assert await response.next() == b"hello"
            with pytest.raises(TransportError, match="fell silent") as caught:
                await response.next()

            assert caught.value.status == 504
            await response.aclose()

    run(scenario)


def test_a_slow_reader_is_not_taken_for_a_silent_server(run, serve, open_network):
    async def in_two_parts(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n")
        await peer.pause()
        await peer.say(b"ab")
        await asyncio.sleep(0.2)
        await peer.say(b"cd")
        await peer.gone()

    async def scenario():
        async with (
            serve(in_two_parts) as server,
            open_network(silence=0.1, keep_alive=0.02) as network,
        ):
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            first = await response.next()
            await asyncio.sleep(0.3)

            assert (first, await read_all(response)) == (b"ab", b"cd")

    run(scenario)


def test_each_piece_of_a_body_starts_the_time_anew(run, serve, open_network, fetch):
    async def drip(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.05)
            await peer.say(b"x")

    async def scenario():
        async with serve(drip) as server, open_network(silence=0.25, keep_alive=0.04) as network:
            assert await fetch(network.transport(), server.url()) == b"x" * 8

    run(scenario)


def test_what_flows_is_given_up_when_it_stalls_and_not_before(run, serve, open_network):
    async def drip_and_stall(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.05)
            await peer.say(b"x")
        await peer.gone()

    async def scenario():
        async with serve(drip_and_stall) as server, open_network(silence=0.25) as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            taken = []
            async with asyncio.timeout(2):
                await response.flow(lambda piece: taken.append(piece) is None)

            assert b"".join(taken) == b"x" * 8
            with pytest.raises(TransportError, match="fell silent"):
                await response.next()

    run(scenario)


def test_a_slow_reader_holds_the_server_back(run, serve, open_network):
    whole, written = 50 * 2**20, 0

    async def flood(peer):
        nonlocal written
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % whole)
        piece = b"x" * 2**16
        while written < whole:
            await peer.say(piece)
            written += len(piece)
        await peer.gone()

    async def scenario():
        async with serve(flood) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            await asyncio.sleep(0.2)
            held_at, buffered = written, response.buffered
            largest = read = 0
            while chunk := await response.next():
                largest = max(largest, len(chunk))
                read += len(chunk)

            assert held_at < whole / 2
            assert 256 * 1024 < buffered <= 2 * 256 * 1024
            assert read == whole
            assert largest <= 2 * 256 * 1024
            assert network.counts().idle == 1

    run(scenario)


def test_a_body_in_tiny_pieces_is_held_back_too(run, serve, open_network):
    pieces = 400_000

    async def flood(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        await peer.say(b"2\r\nab\r\n" * pieces + b"0\r\n\r\n")
        await peer.gone()

    async def scenario():
        async with serve(flood) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            await asyncio.sleep(0.1)
            held = len(response.chunks)

            assert await read_all(response) == b"ab" * pieces
            assert 0 < held < 4096 + 2**18 / 7 + 1

    run(scenario)


def test_a_server_that_does_not_take_the_request_is_given_up(run, serve, open_network, fetch):
    async def silent(peer):
        await peer.head()
        await asyncio.sleep(10)

    async def scenario():
        async with serve(silent) as server, open_network(first_byte=0.1) as network:
            with pytest.raises(TransportError, match="did not answer in time"):
                await fetch(network.transport(), server.url(), body=b"x" * 50 * 2**20)

    run(scenario)
