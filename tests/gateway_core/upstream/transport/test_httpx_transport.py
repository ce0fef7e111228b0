"""httpx2's client over our transports."""

import httpx2
import pytest

from gateway_core.upstream.transport.httpx_transport import HttpxTransport


def client(network, **options):
    return httpx2.AsyncClient(transport=HttpxTransport(network.transport()), **options)


def test_requests_and_answers_pass(run, serve, open_network):
    async def echo(peer):
        head, body = await peer.request()
        await peer.answer(
            body[::-1],
            b"x-target: " + head.split()[1],
            b"set-cookie: a=1; path=/",
            b"set-cookie: b=2",
        )

    async def scenario():
        async with serve(echo) as server, open_network() as network, client(network) as web:
            response = await web.post(server.url("/p"), params={"q": "ü"}, content=b"abc")

            assert (response.status_code, response.content) == (200, b"cba")
            assert response.headers["x-target"] == "/p?q=%C3%BC"
            assert dict(response.cookies) == {"a": "1", "b": "2"}

    run(scenario)


def test_streams_pass_piece_by_piece(run, serve, open_network):
    async def drip(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(3):
            await peer.say(b"2\r\nab\r\n")
            await peer.pause()
        await peer.say(b"0\r\n\r\n")
        await peer.gone()

    async def scenario():
        async with serve(drip) as server, open_network() as network, client(network) as web:
            async with web.stream("GET", server.url()) as response:
                pieces = [piece async for piece in response.aiter_raw()]

            assert b"".join(pieces) == b"ababab"
            assert network.counts().idle == 1

    run(scenario)


def test_an_unread_stream_is_dropped(run, serve, open_network):
    async def endless(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")
        await peer.gone()

    async def scenario():
        async with serve(endless) as server, open_network() as network, client(network) as web:
            async with web.stream("GET", server.url()):
                pass

            assert network.counts().idle == 0

    run(scenario)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"", httpx2.ReadError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", httpx2.ReadError),
    ],
    ids=["head", "body"],
)
def test_a_cut_is_httpx2s_own_error(run, serve, open_network, said, error):
    async def cut(peer):
        await peer.request()
        await peer.say(said)

    async def scenario():
        async with serve(cut) as server, open_network() as network, client(network) as web:
            with pytest.raises(error):
                await web.get(server.url())

    run(scenario)


def test_times_and_refused_connections_are_httpx2s_own_errors(run, serve, polite, open_network):
    async def scenario():
        async with serve(polite) as server:
            unused = server.url()
        async with (
            serve(lambda peer: peer.gone()) as silent,
            open_network() as network,
            client(network, timeout=0.05) as web,
        ):
            with pytest.raises(httpx2.ConnectError):
                await web.get(unused)
            with pytest.raises(httpx2.ReadTimeout):
                await web.get(silent.url())

    run(scenario)
