"""A server that breaks off at every byte: an error or the right answer, never a wrong one."""

import asyncio

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import read_all

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
BODY = "grüße, 世界".encode()
ANSWERS = {
    "length": HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY,
    "chunked": HEAD
    + b"transfer-encoding: chunked\r\n\r\n5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n"
    % (BODY[:5], len(BODY) - 5, BODY[5:]),
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"content-length: 2\r\n\r\nok",
    "no content": b"HTTP/1.1 204 No Content\r\nx-a: b\r\n\r\n",
}
BODIES = {"length": BODY, "chunked": BODY, "interim": b"ok", "no content": b""}


async def attempt(transport, url):
    response = await transport.send(UpstreamRequest(url=url, body=b"{}"))
    try:
        return await read_all(response)
    finally:
        await response.aclose()


@pytest.mark.parametrize("way", ["close", "reset"])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_cut_is_never_taken_for_an_end(run, serve, open_network, name, way):
    data = ANSWERS[name]
    cuts = iter(range(len(data)))

    async def cut_short(peer):
        await peer.request()
        await peer.say(data[: next(cuts)])
        getattr(peer, way)()

    async def scenario():
        async with serve(cut_short) as server, open_network() as network:
            for _ in data:
                with pytest.raises(TransportError) as caught:
                    await attempt(network.transport(), server.url())
                assert (caught.value.status, caught.value.sent) == (502, True)

            assert server.accepted == len(data)

    run(scenario)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_split_at_every_byte_is_whole(run, serve, open_network, name):
    data = ANSWERS[name]

    async def in_two_parts(peer):
        for cut in range(1, len(data)):
            await peer.request()
            await peer.say(data[:cut])
            await peer.pause()
            await peer.say(data[cut:])

    async def scenario():
        async with serve(in_two_parts) as server, open_network() as network:
            for _ in range(1, len(data)):
                assert await attempt(network.transport(), server.url()) == BODIES[name]

            assert server.accepted == 1

    run(scenario)


def test_a_body_without_framing_ends_with_its_connection(run, serve, open_network):
    cuts = iter(range(len(BODY) + 1))

    async def unframed(peer):
        await peer.request()
        await peer.say(HEAD + b"\r\n" + BODY[: next(cuts)])

    async def scenario():
        async with serve(unframed) as server, open_network() as network:
            for cut in range(len(BODY) + 1):
                assert await attempt(network.transport(), server.url()) == BODY[:cut]

            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert network.counts().open == 0

    run(scenario)


def test_a_body_without_framing_that_is_torn_off_is_an_error(run, serve, open_network):
    async def torn(peer):
        await peer.request()
        await peer.say(HEAD + b"\r\n" + BODY)
        await peer.pause()
        peer.reset()

    async def scenario():
        async with serve(torn) as server, open_network() as network:
            with pytest.raises(TransportError, match="broke off"):
                await attempt(network.transport(), server.url())

    run(scenario)


@pytest.mark.parametrize("name", ["length", "chunked", "interim"])
def test_a_stall_at_any_place_ends_in_a_timeout(run, serve, open_network, name):
    data = ANSWERS[name]
    cuts = iter(range(0, len(data), 7))

    async def stall(peer):
        await peer.request()
        await peer.say(data[: next(cuts)])
        await peer.gone()

    async def scenario():
        async with (
            serve(stall) as server,
            open_network(first_byte=0.02, silence=0.02) as network,
        ):
            for _ in range(0, len(data), 7):
                with pytest.raises(TransportError) as caught:
                    await attempt(network.transport(), server.url())
                assert (caught.value.status, caught.value.sent) == (504, True)

    run(scenario)


RUBBISH = {
    "text": b"hello, world\r\n\r\n",
    "binary": bytes(range(256)),
    "tls": b"\x15\x03\x01\x00\x02\x02\x28",
    "chunk size": HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
    "two lengths": HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "large head": HEAD + b"x: %b\r\n\r\n" % (b"y" * 70_000),
}


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
def test_rubbish_is_an_error_and_closes_the_connection(run, serve, open_network, data):
    async def talk_rubbish(peer):
        await peer.request()
        await peer.say(data)
        await peer.gone()

    async def scenario():
        async with serve(talk_rubbish) as server, open_network() as network:
            with pytest.raises(TransportError) as caught:
                await attempt(network.transport(), server.url())

            assert caught.value.status == 502
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert network.counts().open == 0

    run(scenario)
