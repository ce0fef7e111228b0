"""The network as a whole: what it hands out, what it counts, and its end."""

import asyncio

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import AddressForbidden, AddressPolicy, MalformedUrl, Network


def resolving(*addresses):
    async def resolve(host):
        return list(addresses)

    return resolve


def test_equal_ways_out_are_shared():
    network = Network()

    assert network.transport() is network.transport()
    assert network.transport() is not network.transport(policy=AddressPolicy.PUBLIC)
    assert network.transport("http://p.test") is network.transport("http://p.test")
    assert network.transport("http://p.test") is not network.transport("http://q.test")


@pytest.mark.parametrize(
    "proxy", ["", "p.test:80", "ftp://p.test", "http://", "http://p.test/x", "socks5://p.test:0"]
)
def test_a_malformed_proxy_is_refused(proxy):
    with pytest.raises(MalformedUrl):
        Network().transport(proxy)


def test_a_private_address_is_out_of_reach_for_the_public(run, serve, polite, open_network, fetch):
    async def scenario():
        mixed = resolving("93.184.216.34", "127.0.0.1")
        async with serve(polite) as server, open_network(resolve=mixed) as network:
            public = network.transport(policy=AddressPolicy.PUBLIC)
            for url in (server.url(), "http://a.test/", "http://127.0.0.1/", "http://[::1]:8080/"):
                with pytest.raises(AddressForbidden) as caught:
                    await fetch(public, url)
                assert caught.value.sent is False

            assert server.accepted == 0

    run(scenario)


def test_an_open_connection_of_the_operator_is_no_way_in_for_the_public(
    run, serve, polite, open_network, fetch
):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            await fetch(network.transport(), server.url())

            with pytest.raises(AddressForbidden):
                await fetch(network.transport(policy=AddressPolicy.PUBLIC), server.url())

            assert server.accepted == 1

    run(scenario)


def test_the_metadata_service_is_out_of_reach_for_everybody(run, open_network, fetch):
    async def scenario():
        async with open_network(resolve=resolving("169.254.169.254")) as network:
            for url in ("http://metadata.test/", "http://169.254.169.254/", "http://[fe80::1]/"):
                with pytest.raises(AddressForbidden):
                    await fetch(network.transport(), url)

    run(scenario)


@pytest.mark.parametrize("listener", ["127.0.0.1", "0.0.0.0"])
def test_the_gateway_does_not_call_itself(run, serve, polite, open_network, fetch, listener):
    async def scenario():
        async with serve(polite) as server:
            async with open_network(refuse=frozenset({(listener, server.port)})) as network:
                for host in ("127.0.0.1", "localhost"):
                    with pytest.raises(AddressForbidden, match="the gateway itself"):
                        await fetch(network.transport(), server.url(host=host))

            assert server.accepted == 0

    run(scenario)


@pytest.mark.parametrize("http2", [False, True], ids=["direct", "http2"])
def test_a_connection_that_came_home_unnoticed_is_closed_before_a_word(
    run, serve, open_network, fetch, monkeypatch, http2
):
    heard = []

    async def listen(peer):
        heard.append(await peer.head())

    async def scenario():
        async with (
            serve(listen) as server,
            open_network(refuse=frozenset({("0.0.0.0", server.port)})) as network,
        ):
            # As if this were some other address of the machine.
            monkeypatch.setattr(network._guard, "_is_own", lambda address, port: False)

            with pytest.raises(AddressForbidden, match="the gateway itself"):
                await fetch(network.transport(http2=http2), server.url())

        assert heard in ([], [b""])

    run(scenario)


def test_the_dialled_address_is_the_checked_one(serve, polite, open_network, fetch, monkeypatch):
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    dialled = []

    async def changing(host):
        return answers.pop(0)

    async def scenario():
        loop = asyncio.get_running_loop()
        connect = loop.create_connection

        async def record(factory, host, port, **options):
            dialled.append((host, port, options["server_hostname"]))
            return await connect(factory, "127.0.0.1", server.port)

        async with serve(polite) as server, open_network(resolve=changing) as network:
            monkeypatch.setattr(loop, "create_connection", record)
            public = network.transport(policy=AddressPolicy.PUBLIC)

            assert await fetch(public, "http://a.test/") == b"ok"
            assert await fetch(public, "http://a.test/") == b"ok"

    asyncio.run(scenario())

    assert dialled == [("93.184.216.34", 80, None)]
    assert answers == [["127.0.0.1"]]


def test_addresses_are_tried_in_their_order(run, serve, polite, open_network, fetch):
    async def scenario():
        both = resolving("127.0.0.2", "127.0.0.1")
        async with serve(polite) as server, open_network(resolve=both) as network:
            assert await fetch(network.transport(), server.url(host="a.test")) == b"ok"

    run(scenario)


def test_a_name_is_looked_up_anew_when_its_addresses_do_not_answer(
    run, serve, polite, open_network, fetch
):
    answers = [["127.0.0.2"], ["127.0.0.1"]]

    async def changing(host):
        return answers.pop(0)

    async def scenario():
        async with serve(polite) as server, open_network(resolve=changing) as network:
            with pytest.raises(TransportError, match="could not be reached"):
                await fetch(network.transport(), server.url(host="a.test"))

            assert await fetch(network.transport(), server.url(host="a.test")) == b"ok"

    run(scenario)


def test_a_look_up_that_stalls_is_given_up(run, open_network, fetch):
    async def never(host):
        await asyncio.sleep(100)

    async def scenario():
        async with open_network(resolve=never, connect=0.05) as network:
            with pytest.raises(TransportError, match="reached in time") as caught:
                await fetch(network.transport(), "http://a.test/")

            assert (caught.value.status, caught.value.sent) == (504, False)

    run(scenario)


def test_a_url_for_somebody_else_can_be_checked(run, open_network):
    async def scenario():
        async with open_network(resolve=resolving("10.0.0.1")) as network:
            await network.permit("https://8.8.8.8/")
            await network.permit("http://a.test/", AddressPolicy.OPERATOR)
            with pytest.raises(AddressForbidden):
                await network.permit("http://a.test/")
            with pytest.raises(AddressForbidden):
                await network.permit("http://8.8.8.8:22/")
            with pytest.raises(MalformedUrl):
                await network.permit("file:///etc/passwd")

    run(scenario)


def test_closing_ends_every_kind_of_waiting(run, serve, open_network, fetch):
    async def hang(peer):
        head, _ = await peer.request()
        if b"/body" in head:
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
        if b"/idle" in head:
            await peer.answer()
        await peer.gone()

    async def resolve(host):
        if host == "lost.test":
            await asyncio.sleep(100)
        return ["127.0.0.1"]

    async def scenario():
        async with serve(hang) as server, open_network(resolve=resolve, connections=3) as network:
            transport = network.transport()
            await fetch(transport, server.url("/idle", host="b.test"))
            urls = [server.url("/head")] * 2 + [server.url("/body")] + [server.url("/queued")]
            urls.append(server.url("/", host="lost.test"))
            tasks = [asyncio.create_task(fetch(transport, url)) for url in urls]
            await asyncio.sleep(0.05)
            counts = network.counts()

            async with asyncio.timeout(1):
                await network.aclose()
            results = await asyncio.gather(*tasks, return_exceptions=True)

            assert (counts.open, counts.idle, counts.waiting) == (5, 1, 1)
            assert all(isinstance(result, TransportError) for result in results)
            assert [result.sent for result in results] == [True] * 3 + [False] * 2
            with pytest.raises(TransportError, match="shutting down"):
                await transport.send(UpstreamRequest(url=server.url()))
            with pytest.raises(TransportError, match="shutting down"):
                network.transport()

    run(scenario)


def test_no_timer_is_left(serve, polite, fetch):
    timers = []

    async def scenario():
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def record(when, callback, *arguments, **options):
            timers.append(call_at(when, callback, *arguments, **options))
            return timers[-1]

        loop.call_at = record
        network = Network()
        async with serve(polite) as server:
            await asyncio.gather(*(fetch(network.transport(), server.url()) for _ in range(20)))
            await network.aclose()
        now = loop.time()
        return [timer for timer in timers if not timer.cancelled() and timer.when() > now]

    assert asyncio.run(scenario()) == []
    assert timers


def test_closing_twice_and_closing_unused_does_no_harm(run):
    async def scenario():
        network = Network()
        network.transport()

        await network.aclose()
        await network.aclose()

    run(scenario)


def test_several_networks_live_side_by_side(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server, open_network() as one, open_network() as two:
            await fetch(one.transport(), server.url())
            await fetch(two.transport(), server.url())
            await one.aclose()

            assert await fetch(two.transport(), server.url()) == b"ok"
            assert server.accepted == 2

    run(scenario)


def test_origins_have_pools_of_their_own(run, serve, polite, open_network, fetch):
    async def scenario():
        async with (
            serve(polite) as one,
            serve(polite) as two,
            open_network(connections=1) as network,
        ):
            transport = network.transport()
            held = await transport.send(UpstreamRequest(url=one.url()))
            assert await fetch(transport, two.url()) == b"ok"
            await held.aclose()

            assert network.counts().open == 2

    run(scenario)
