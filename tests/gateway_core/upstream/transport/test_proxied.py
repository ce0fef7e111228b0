"""The second carrier through real proxies, and over HTTP/2."""

import asyncio

import h2.config
import h2.connection
import h2.events
import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy, read_all


def way(server, handler, user=""):
    return f"{handler.scheme}://{user}127.0.0.1:{server.port}"


def resolving(*addresses):
    async def resolve(host):
        return list(addresses)

    return resolve


def test_plain_requests_pass(run, serve, polite, proxy, open_network, fetch):
    async def scenario():
        async with (
            serve(polite) as server,
            serve(proxy) as middle,
            open_network(resolve=resolving()) as network,
        ):
            transport = network.transport(way(middle, proxy))

            for _ in range(3):
                assert await fetch(transport, server.url("/x", host="a.test"), body=b"hi") == b"ok"

            assert (server.accepted, middle.accepted) == (1, 1)

    run(scenario)


def test_secure_requests_pass_and_the_name_is_checked(
    run, serve, polite, proxy, certified, trusting, open_network, fetch
):
    async def scenario():
        async with (
            serve(polite, certified("a.test")) as server,
            serve(proxy) as middle,
            open_network(tls=trusting, resolve=resolving()) as network,
        ):
            transport = network.transport(way(middle, proxy))

            for _ in range(3):
                assert await fetch(transport, server.url(host="a.test")) == b"ok"
            with pytest.raises(TransportError, match="could not be reached") as caught:
                await fetch(transport, server.url(host="127.0.0.1"))

            assert caught.value.sent is False
            assert server.accepted == 1

    run(scenario)


def test_the_server_sees_the_request_as_it_was_given(run, serve, socks_proxy, open_network, fetch):
    seen = []

    async def record(peer):
        seen.append(await peer.request())
        await peer.answer()

    async def scenario():
        async with serve(record) as server, serve(socks_proxy) as middle, open_network() as network:
            transport = network.transport(way(middle, socks_proxy))
            headers = {"authorization": "Bearer k", "connection": "close"}
            url = server.url("/v1/%7Ea?b='c'|d", host="a.test")
            await fetch(transport, url, headers=headers, body=b"{}")

            head = (
                "POST /v1/%7Ea?b='c'|d HTTP/1.1\r\n"
                f"host: a.test:{server.port}\r\n"
                "authorization: Bearer k\r\n"
                "user-agent: model-gateway\r\n"
                "accept-encoding: identity\r\n"
                "content-length: 2\r\n\r\n"
            )
            assert seen == [(head.encode(), b"{}")]
            assert socks_proxy.seen == [b"a.test"]

    run(scenario)


def test_a_proxys_password_is_given(
    run, serve, polite, http_proxy, socks_proxy, open_network, fetch
):
    socks_proxy.password = b"p@ss:w"

    async def scenario():
        async with (
            serve(polite) as server,
            serve(http_proxy) as first,
            serve(socks_proxy) as second,
            open_network() as network,
        ):
            url = server.url(host="a.test")
            by_http = network.transport(way(first, http_proxy, "us%20er:p%40ss:w@"))
            by_socks = network.transport(way(second, socks_proxy, "us%20er:p%40ss:w@"))

            assert await fetch(by_http, url) == await fetch(by_socks, url) == b"ok"
            assert b"Proxy-Authorization: Basic dXMgZXI6cEBzczp3\r\n" in http_proxy.seen[0]

    run(scenario)


def test_a_wrong_password_is_an_error(run, serve, polite, socks_proxy, open_network, fetch):
    socks_proxy.password = b"right"

    async def scenario():
        async with serve(socks_proxy) as middle, open_network() as network:
            transport = network.transport(way(middle, socks_proxy, "user:wrong@"))

            with pytest.raises(TransportError, match="The proxy") as caught:
                await fetch(transport, "http://a.test/")

            assert caught.value.sent is False
            assert "wrong" not in caught.value.message

    run(scenario)


@pytest.mark.parametrize(
    "refusal",
    [b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", b"", b"rubbish"],
    ids=["refused", "silent", "rubbish"],
)
def test_a_tunnel_that_is_not_opened_is_an_error(
    run, serve, http_proxy, trusting, open_network, fetch, refusal
):
    http_proxy.refusal = refusal or b"\r\n"

    async def scenario():
        async with serve(http_proxy) as middle, open_network(tls=trusting) as network:
            with pytest.raises(TransportError):
                await fetch(network.transport(way(middle, http_proxy)), "https://a.test/")

    run(scenario)


@pytest.mark.parametrize(
    "refusal", [b"\x05\xff", b"\x05", b"HTTP/1.1 400 No\r\n\r\n", b"\x05\x00\x05"]
)
def test_a_socks_proxy_that_refuses_is_an_error_and_leaves_nothing(
    run, serve, socks_proxy, open_network, fetch, refusal
):
    socks_proxy.refusal = refusal

    async def scenario():
        async with (
            serve(socks_proxy) as middle,
            open_network(first_byte=0.1) as network,
        ):
            with pytest.raises(TransportError):
                await fetch(network.transport(way(middle, socks_proxy)), "http://a.test/")

    run(scenario)


def test_a_proxy_that_is_not_there_is_not_sent(run, serve, proxy, open_network, fetch):
    async def scenario():
        async with serve(proxy) as middle:
            unused = way(middle, proxy)
        async with open_network() as network:
            with pytest.raises(TransportError, match="could not be reached") as caught:
                await fetch(network.transport(unused), "http://a.test/")

            assert (caught.value.status, caught.value.sent) == (502, False)

    run(scenario)


@pytest.mark.parametrize("policy", AddressPolicy)
def test_a_look_up_that_stalls_is_given_up(run, open_network, fetch, policy):
    async def never(host):
        await asyncio.sleep(100)

    async def scenario():
        async with open_network(resolve=never, connect=0.05) as network:
            transport = network.transport("socks5://p.test", policy=policy)

            with pytest.raises(TransportError, match="reached in time") as caught:
                await fetch(transport, "http://a.test/")

            assert (caught.value.status, caught.value.sent) == (504, False)

    run(scenario)


def test_a_literal_address_is_checked_before_a_proxy_sees_it(
    run, serve, proxy, open_network, fetch
):
    async def scenario():
        async with serve(proxy) as middle, open_network() as network:
            with pytest.raises(AddressForbidden):
                await fetch(network.transport(way(middle, proxy)), "http://169.254.169.254/")

            assert middle.accepted == 0

    run(scenario)


def test_the_proxys_own_address_is_checked(run, open_network, fetch):
    async def scenario():
        async with open_network(resolve=resolving("169.254.169.254")) as network:
            with pytest.raises(AddressForbidden):
                await fetch(network.transport("http://p.test:80"), "http://a.test/")

    run(scenario)


def test_a_public_destination_is_checked_and_named_by_its_address(
    run, serve, polite, proxy, certified, trusting, open_network, fetch
):
    async def scenario():
        async with (
            serve(polite, certified("a.test")) as server,
            serve(proxy) as middle,
            open_network(tls=trusting, resolve=resolving("93.184.216.34")) as network,
        ):
            # The proxy stands for the whole world: it finds the address at our server.
            proxy.names = {"93.184.216.34": "127.0.0.1"}
            public = network.transport(way(middle, proxy), policy=AddressPolicy.PUBLIC)
            network._guard._public_ports = frozenset({server.port})

            for _ in range(2):
                assert await fetch(public, server.url(host="a.test")) == b"ok"

            assert all(b"93.184.216.34" in seen for seen in proxy.seen)
            assert server.accepted == 2

    run(scenario)


def test_a_private_destination_is_refused_to_the_public_over_a_proxy_too(
    run, serve, proxy, open_network, fetch
):
    async def scenario():
        mixed = resolving("93.184.216.34", "10.0.0.1")
        async with serve(proxy) as middle, open_network(resolve=mixed) as network:
            public = network.transport(way(middle, proxy), policy=AddressPolicy.PUBLIC)
            for url in ("http://a.test/", "http://127.0.0.1/", "http://93.184.216.34:22/"):
                with pytest.raises(AddressForbidden):
                    await fetch(public, url)

            assert middle.accepted == 0

    run(scenario)


async def speak_http2(peer):
    """Answer every HTTP/2 request with its path and body."""
    wire = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    wire.initiate_connection()
    await peer.say(wire.data_to_send())
    requests = {}
    while data := await peer.reader.read(65536):
        for event in wire.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                requests[event.stream_id] = [dict(event.headers), b""]
            elif isinstance(event, h2.events.DataReceived):
                requests[event.stream_id][1] += event.data
                wire.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                answer_http2(wire, event.stream_id, *requests.pop(event.stream_id))
        await peer.say(wire.data_to_send())


def answer_http2(wire, stream, headers, body):
    if headers[b":path"] == b"/broken":
        wire.send_headers(stream, [(":status", "200")])
        wire.send_data(stream, b"half")
        wire.reset_stream(stream)
        return
    fields = [(":status", "200"), ("x-authority", headers[b":authority"].decode())]
    wire.send_headers(stream, fields)
    wire.send_data(stream, headers[b":path"] + b" " + body, end_stream=True)


@pytest.mark.parametrize("over", ["nothing", "a proxy"])
def test_http2_is_spoken_where_it_is_offered(
    run, serve, http_proxy, certified, trusting, open_network, over
):
    context = certified("a.test", protocols=("h2", "http/1.1"))

    async def scenario():
        async with (
            serve(speak_http2, context) as server,
            serve(http_proxy) as middle,
            open_network(tls=trusting, resolve=resolving("127.0.0.1")) as network,
        ):
            proxy = way(middle, http_proxy) if over == "a proxy" else None
            transport = network.transport(proxy, http2=True)

            async def go(path):
                url = server.url(path, host="a.test")
                response = await transport.send(UpstreamRequest(url=url, body=b"hi"))
                assert response.headers["x-authority"] == f"a.test:{server.port}"
                try:
                    return await read_all(response)
                finally:
                    await response.aclose()

            assert await go("/0") == b"/0 hi"
            bodies = await asyncio.gather(*(go(f"/{number}") for number in range(1, 20)))

            assert bodies == [b"/%d hi" % number for number in range(1, 20)]
            assert server.accepted == 1
            with pytest.raises(TransportError, match="broke off"):
                await fetch_broken(transport, server)

    async def fetch_broken(transport, server):
        request = UpstreamRequest(url=server.url("/broken", host="a.test"))
        response = await transport.send(request)
        try:
            await read_all(response)
        finally:
            await response.aclose()

    run(scenario)


def test_http2_without_a_proxy_obeys_the_policy(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            operator = network.transport(http2=True)
            public = network.transport(http2=True, policy=AddressPolicy.PUBLIC)

            assert await fetch(operator, server.url()) == b"ok"
            with pytest.raises(AddressForbidden):
                await fetch(public, server.url())
            with pytest.raises(AddressForbidden):
                await fetch(operator, "http://169.254.169.254/")

            assert server.accepted == 1

    run(scenario)


@pytest.mark.parametrize("connections", [1, 512], ids=["queued", "connected"])
def test_closing_the_network_ends_what_is_under_way(
    run, serve, proxy, open_network, fetch, connections
):
    async def scenario():
        async with (
            serve(lambda peer: peer.gone()) as server,
            serve(proxy) as middle,
            open_network(connections=connections) as network,
        ):
            transport = network.transport(way(middle, proxy))
            url = server.url(host="a.test")
            tasks = [asyncio.create_task(fetch(transport, url)) for _ in range(3)]
            await asyncio.sleep(0.05)

            async with asyncio.timeout(1):
                await network.aclose()
                results = await asyncio.gather(*tasks, return_exceptions=True)

            assert all(isinstance(result, TransportError) for result in results)
            with pytest.raises(TransportError, match="shutting down"):
                await fetch(transport, url)

    run(scenario)


def test_closing_the_network_ends_an_attempt_to_connect(run, serve, proxy, open_network, fetch):
    async def scenario():
        async with serve(lambda peer: peer.gone()) as middle, open_network() as network:
            transport = network.transport(way(middle, proxy))
            task = asyncio.create_task(fetch(transport, "https://a.test/"))
            await asyncio.sleep(0.05)

            async with asyncio.timeout(1):
                await network.aclose()
                with pytest.raises(TransportError):
                    await task

    run(scenario)
