"""Kept connections: used again, queued for, expired, and replaced when they die."""

import asyncio
import resource

import pytest

from gateway_core.contracts.errors import TransportError


async def until_closed(network):
    """Wait for what happens without anybody asking."""
    async with asyncio.timeout(5):
        while network.counts().open:
            await asyncio.sleep(0.001)


def test_connections_are_kept_and_used_again(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            transport = network.transport()

            bodies = [await fetch(transport, server.url(), body=b"hi") for _ in range(5)]

            assert bodies == [b"ok"] * 5
            assert server.accepted == 1
            assert (network.counts().open, network.counts().idle) == (1, 1)

    run(scenario)


def test_requests_beyond_the_cap_queue_in_order(run, serve, open_network, fetch):
    order, gate = [], None

    async def answer_in_turn(peer):
        while (head := (await peer.request())[0]) != b"":
            order.append(head.split()[1])
            await gate.wait()
            await peer.answer()

    async def scenario():
        nonlocal gate
        gate = asyncio.Event()
        async with serve(answer_in_turn) as server, open_network(connections=2) as network:
            transport = network.transport()
            tasks = []
            for number in range(8):
                tasks.append(asyncio.create_task(fetch(transport, server.url(f"/{number}"))))
                await asyncio.sleep(0.005)
            counts = network.counts()

            gate.set()
            bodies = await asyncio.gather(*tasks)

            assert (counts.open, counts.waiting) == (2, 6)
            assert bodies == [b"ok"] * 8
            assert server.accepted == 2
            assert sorted(order[:2]) == [b"/0", b"/1"]
            assert [int(path[1:]) // 2 for path in order] == [0, 0, 1, 1, 2, 2, 3, 3]

    run(scenario)


def test_a_request_waits_for_a_free_connection_no_longer_than_to_connect(
    run, serve, open_network, fetch
):
    async def scenario():
        async with (
            serve(lambda peer: peer.gone()) as server,
            open_network(connections=1, connect=0.05) as network,
        ):
            transport = network.transport()
            first = asyncio.create_task(fetch(transport, server.url()))
            await asyncio.sleep(0.02)

            with pytest.raises(TransportError, match="became free") as caught:
                await fetch(transport, server.url())

            assert (caught.value.status, caught.value.sent) == (504, False)
            assert network.counts().waiting == 0
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)

    run(scenario)


def test_a_cancelled_waiter_leaves_its_turn_to_the_next(run, serve, open_network, fetch):
    gate = None

    async def hold(peer):
        while (await peer.request())[0]:
            await gate.wait()
            await peer.answer()

    async def scenario():
        nonlocal gate
        gate = asyncio.Event()
        async with serve(hold) as server, open_network(connections=1) as network:
            transport = network.transport()
            first, second, third = (
                asyncio.create_task(fetch(transport, server.url())) for _ in range(3)
            )
            await asyncio.sleep(0.02)

            second.cancel()
            gate.set()

            assert await first == await third == b"ok"
            assert network.counts().waiting == 0

    run(scenario)


def test_idle_connections_are_closed_after_a_while(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server, open_network(keep_alive=0.2) as network:
            transport = network.transport()
            await fetch(transport, server.url())

            await asyncio.sleep(0.06)
            await fetch(transport, server.url())
            await asyncio.sleep(0.06)
            kept = network.counts().idle
            await until_closed(network)

            assert kept == 1
            assert server.accepted == 1

    run(scenario)


def test_a_connection_the_server_closes_while_idle_is_dropped_at_once(
    run, serve, open_network, fetch
):
    async def answer_and_close(peer):
        await peer.request()
        await peer.answer()
        await asyncio.sleep(0.01)

    async def scenario():
        async with serve(answer_and_close) as server, open_network() as network:
            await fetch(network.transport(), server.url())

            await until_closed(network)

    run(scenario)


def test_a_connection_that_speaks_while_idle_is_dropped(run, serve, open_network, fetch):
    async def mumble(peer):
        while (await peer.request())[0]:
            await peer.answer()
            await asyncio.sleep(0.01)
            await peer.say(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n")

    async def scenario():
        async with serve(mumble) as server, open_network() as network:
            await fetch(network.transport(), server.url())

            await until_closed(network)
            assert await fetch(network.transport(), server.url()) == b"ok"

    run(scenario)


@pytest.mark.parametrize("way", ["close", "reset"])
def test_a_kept_connection_that_dies_before_a_byte_is_replaced_once(
    run, serve, open_network, fetch, way
):
    requests = []

    async def die_on_the_second(peer):
        for _ in range(2):
            head, _ = await peer.request()
            requests.append(head)
            if len(requests) == 2:
                getattr(peer, way)()
                return
            await peer.answer()

    async def scenario():
        async with serve(die_on_the_second) as server, open_network() as network:
            transport = network.transport()
            await fetch(transport, server.url())

            assert await fetch(transport, server.url()) == b"ok"
            assert len(requests) == 3
            assert server.accepted == 2

    run(scenario)


def test_a_request_that_may_go_out_once_does_not_go_out_on_a_kept_connection(
    run, serve, polite, open_network, fetch
):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            transport = network.transport()
            await fetch(transport, server.url())

            assert await fetch(transport, server.url(), once=True) == b"ok"
            assert server.accepted == 2

    run(scenario)


def test_a_request_is_repeated_no_more_than_once(run, serve, open_network, fetch):
    requests = []

    async def answer_only_the_first(peer):
        requests.append(await peer.request())
        if len(requests) == 1:
            await peer.answer()
            requests.append(await peer.request())

    async def scenario():
        async with serve(answer_only_the_first) as server, open_network() as network:
            transport = network.transport()
            await fetch(transport, server.url())

            with pytest.raises(TransportError, match="before it answered") as caught:
                await fetch(transport, server.url())

            assert caught.value.sent
            assert len(requests) == 3

    run(scenario)


def test_a_repeated_request_counts_as_sent_even_when_nobody_listens_any_more(
    run, serve, open_network, fetch
):
    async def scenario():
        async with open_network() as network:
            transport = network.transport()
            async with serve(answer_once_then_die) as server:
                await fetch(transport, server.url())
                server._server.close()

                with pytest.raises(TransportError, match="could not be reached") as caught:
                    await fetch(transport, server.url())

                assert caught.value.sent

    async def answer_once_then_die(peer):
        await peer.request()
        await peer.answer()
        await peer.request()

    run(scenario)


def test_a_fresh_connection_that_dies_is_not_tried_again(run, serve, open_network, fetch):
    async def die(peer):
        await peer.request()

    async def scenario():
        async with serve(die) as server, open_network() as network:
            with pytest.raises(TransportError, match="before it answered") as caught:
                await fetch(network.transport(), server.url())

            assert caught.value.sent
            assert server.accepted == 1

    run(scenario)


def test_a_kept_connection_that_dies_after_a_byte_is_not_tried_again(
    run, serve, open_network, fetch
):
    async def start_and_die(peer):
        await peer.request()
        await peer.answer()
        await peer.request()
        await peer.say(b"H")

    async def scenario():
        async with serve(start_and_die) as server, open_network() as network:
            transport = network.transport()
            await fetch(transport, server.url())

            with pytest.raises(TransportError):
                await fetch(transport, server.url())

            assert server.accepted == 1

    run(scenario)


def test_a_thousand_connections_at_once(run, serve, open_network, fetch):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    count, arrived = 1000, 0

    async def all_together(peer):
        nonlocal arrived
        while (head := (await peer.request())[0]) != b"":
            arrived += 1
            if arrived == count:
                everybody.set()
            await everybody.wait()
            await peer.answer(head.split()[1])

    async def scenario():
        nonlocal everybody
        everybody = asyncio.Event()
        async with serve(all_together) as server, open_network(connections=count) as network:
            transport = network.transport()
            bodies = await asyncio.gather(
                *(fetch(transport, server.url(f"/{number}")) for number in range(count))
            )

            assert bodies == [b"/%d" % number for number in range(count)]
            assert (network.counts().open, server.accepted) == (count, count)

    everybody = None
    run(scenario)
