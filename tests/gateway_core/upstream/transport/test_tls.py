"""TLS: certificates, names, and ends that are not the provider's word."""

import asyncio
import ssl

import pytest
import trustme

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import read_all


async def to_loopback(host):
    return ["127.0.0.1"]


def test_a_checked_name_is_spoken_to_at_the_address_it_was_checked_for(
    run, serve, certified, trusting, open_network, fetch
):
    seen = []

    async def record(peer):
        seen.append(await peer.request())
        await peer.answer(b"secret")

    async def scenario():
        async with (
            serve(record, certified("a.test")) as server,
            open_network(tls=trusting, resolve=to_loopback) as network,
        ):
            url = server.url("/x", host="a.test")

            assert await fetch(network.transport(), url) == b"secret"
            assert b"\r\nhost: a.test:%d\r\n" % server.port in seen[0][0]

    run(scenario)


def test_the_direct_carrier_speaks_http1_even_where_http2_is_offered(
    run, serve, certified, trusting, open_network, fetch
):
    async def tell(peer):
        await peer.request()
        chosen = peer.writer.get_extra_info("ssl_object").selected_alpn_protocol()
        await peer.answer(chosen.encode())

    async def scenario():
        context = certified("127.0.0.1", protocols=("h2", "http/1.1"))
        async with serve(tell, context) as server, open_network(tls=trusting) as network:
            assert await fetch(network.transport(), server.url()) == b"http/1.1"

    run(scenario)


def test_connections_are_kept(run, serve, polite, certified, trusting, open_network, fetch):
    async def scenario():
        async with (
            serve(polite, certified("127.0.0.1")) as server,
            open_network(tls=trusting) as network,
        ):
            for _ in range(5):
                assert await fetch(network.transport(), server.url()) == b"ok"

            assert server.accepted == 1

    run(scenario)


@pytest.mark.parametrize("name", ["b.test", "127.0.0.2"])
def test_a_certificate_for_another_name_is_refused(
    run, serve, polite, certified, trusting, open_network, fetch, name
):
    async def scenario():
        async with (
            serve(polite, certified(name)) as server,
            open_network(tls=trusting, resolve=to_loopback) as network,
        ):
            with pytest.raises(TransportError, match="secure connection") as caught:
                await fetch(network.transport(), server.url(host="a.test"))

            assert (caught.value.status, caught.value.sent) == (502, False)

    run(scenario)


def test_a_certificate_of_a_stranger_is_refused(run, serve, polite, trusting, open_network, fetch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def scenario():
        async with serve(polite, context) as server, open_network(tls=trusting) as network:
            with pytest.raises(TransportError, match="secure connection"):
                await fetch(network.transport(), server.url())

    run(scenario)


def test_a_server_without_tls_is_refused(run, serve, open_network, trusting, fetch):
    async def plain(peer):
        await peer.say(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def scenario():
        async with serve(plain) as server, open_network(tls=trusting) as network:
            with pytest.raises(TransportError) as caught:
                await fetch(network.transport(), f"https://127.0.0.1:{server.port}/")

            assert caught.value.sent is False

    run(scenario)


def test_a_handshake_that_stalls_is_given_up(run, serve, open_network, trusting, fetch):
    async def scenario():
        async with (
            serve(lambda peer: peer.gone()) as server,
            open_network(tls=trusting, connect=0.05) as network,
        ):
            with pytest.raises(TransportError, match="reached in time") as caught:
                await fetch(network.transport(), f"https://127.0.0.1:{server.port}/")

            assert (caught.value.status, caught.value.sent) == (504, False)
            assert network.counts().open == 0

    run(scenario)


def test_a_cancelled_handshake_leaves_nothing(run, serve, open_network, trusting, fetch):
    async def scenario():
        async with serve(lambda peer: peer.gone()) as server, open_network(tls=trusting) as network:
            url = f"https://127.0.0.1:{server.port}/"
            task = asyncio.create_task(fetch(network.transport(), url))
            await asyncio.sleep(0.05)

            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

            assert network.counts().open == 0

    run(scenario)


@pytest.mark.parametrize("framed", [True, False], ids=["framed", "unframed"])
def test_a_torn_connection_is_an_error_for_every_framing(
    run, serve, certified, trusting, open_network, framed
):
    field = b"content-length: 9\r\n" if framed else b""

    async def tear(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\n%b\r\nhello" % field)
        await peer.pause()
        # The connection ends, but TLS does not say so.
        peer.writer.transport.abort()

    async def scenario():
        async with (
            serve(tear, certified("127.0.0.1")) as server,
            open_network(tls=trusting) as network,
        ):
            response = await network.transport().send(UpstreamRequest(url=server.url()))

            with pytest.raises(TransportError, match="broke off"):
                await read_all(response)

    run(scenario)


def test_an_unframed_body_ends_with_a_proper_end(
    run, serve, certified, trusting, open_network, fetch
):
    async def end_properly(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\n\r\nhello")
        peer.close()
        await peer.writer.wait_closed()

    async def scenario():
        async with (
            serve(end_properly, certified("127.0.0.1")) as server,
            open_network(tls=trusting) as network,
        ):
            assert await fetch(network.transport(), server.url()) == b"hello"

    run(scenario)


def test_a_kept_connection_that_dies_is_replaced(
    run, serve, certified, trusting, open_network, fetch
):
    async def answer_once(peer):
        await peer.request()
        await peer.answer()
        await peer.request()

    async def scenario():
        async with (
            serve(answer_once, certified("127.0.0.1")) as server,
            open_network(tls=trusting) as network,
        ):
            for _ in range(3):
                assert await fetch(network.transport(), server.url()) == b"ok"

            assert server.accepted == 3

    run(scenario)


def test_large_bodies_pass_both_ways_with_a_slow_reader(
    run, serve, certified, trusting, open_network
):
    body = bytes(range(256)) * 40_000

    async def echo(peer):
        _, received = await peer.request()
        await peer.answer(received)
        await peer.gone()

    async def scenario():
        async with (
            serve(echo, certified("127.0.0.1")) as server,
            open_network(tls=trusting) as network,
        ):
            request = UpstreamRequest(url=server.url(), body=body)
            response = await network.transport().send(request)
            await asyncio.sleep(0.2)
            buffered = response.buffered

            assert await read_all(response) == body
            assert buffered <= 2 * 256 * 1024

    run(scenario)
