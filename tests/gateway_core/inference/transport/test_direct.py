"""The direct carrier against real servers."""

import asyncio
import resource

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.inference.transport import read_all


def test_connections_are_kept_and_used_again(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            transport = network.transport()

            bodies = [await fetch(transport, server.url(), body=b"hi") for _ in range(5)]

            assert bodies == [b"ok"] * 5
            assert server.accepted == 1
            assert (network.counts().open, network.counts().idle) == (1, 1)

    run(scenario)


def test_the_request_goes_out_as_it_was_given(run, serve, open_network, fetch):
    seen = []

    async def record(peer):
        seen.append(await peer.request())
        await peer.answer()

    async def scenario():
        async with serve(record) as server, open_network() as network:
            headers = {"authorization": "Bearer k", "host": "evil.test", "content-length": "9"}
            url = server.url("/v1/chat?a=b%20c#fragment")
            await fetch(network.transport(), url, headers=headers, body=b'{"a":1}')

            head = (
                "POST /v1/chat?a=b%20c HTTP/1.1\r\n"
                f"host: 127.0.0.1:{server.port}\r\n"
                "authorization: Bearer k\r\n"
                "accept-encoding: identity\r\n"
                "content-length: 7\r\n\r\n"
            )
            assert seen == [(head.encode(), b'{"a":1}')]

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
        async with serve(polite) as server, open_network(keep_alive=0.05) as network:
            transport = network.transport()
            await fetch(transport, server.url())

            await asyncio.sleep(0.03)
            await fetch(transport, server.url())
            await asyncio.sleep(0.03)
            kept = network.counts().idle
            await asyncio.sleep(0.06)

            assert kept == 1
            assert network.counts().open == 0
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
            await asyncio.sleep(0.05)

            assert network.counts().open == 0

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
            await asyncio.sleep(0.05)

            assert network.counts().open == 0
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
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab")
        await asyncio.sleep(0.15)
        await peer.say(b"cd")
        await peer.gone()

    async def scenario():
        async with (
            serve(in_two_parts) as server,
            open_network(silence=0.1, keep_alive=0.02) as network,
        ):
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            await asyncio.sleep(0.2)

            assert await read_all(response) == b"abcd"

    run(scenario)


def test_each_piece_of_a_body_starts_the_time_anew(run, serve, open_network, fetch):
    async def drip(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.03)
            await peer.say(b"x")

    async def scenario():
        async with serve(drip) as server, open_network(silence=0.1, keep_alive=0.04) as network:
            assert await fetch(network.transport(), server.url()) == b"x" * 8

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


@pytest.mark.parametrize("size", [0, 1, 2**18, 2**18 + 1, 8 * 2**20 + 7])
def test_request_bodies_of_any_size_arrive_whole(run, serve, open_network, fetch, size):
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    seen = []

    async def record(peer):
        for _ in range(2):
            seen.append((await peer.request())[1])
            await peer.answer()

    async def scenario():
        async with serve(record) as server, open_network() as network:
            for _ in range(2):
                assert await fetch(network.transport(), server.url(), body=body) == b"ok"

            assert seen == [body, body]
            assert server.accepted == 1

    run(scenario)


def test_an_answer_that_comes_before_the_whole_request_is_taken(run, serve, open_network, fetch):
    async def refuse_early(peer):
        await peer.head()
        await peer.say(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig")
        await asyncio.sleep(0.2)

    async def scenario():
        async with serve(refuse_early) as server, open_network() as network:
            request = UpstreamRequest(url=server.url(), body=b"x" * 50 * 2**20)
            response = await network.transport().send(request)

            assert response.status == 413
            assert await read_all(response) == b"big"
            await asyncio.sleep(0)
            assert network.counts().idle == 0

    run(scenario)


def test_a_server_that_does_not_take_the_request_is_given_up(run, serve, open_network, fetch):
    async def deaf(peer):
        await peer.head()
        await asyncio.sleep(10)

    async def scenario():
        async with serve(deaf) as server, open_network(first_byte=0.1) as network:
            with pytest.raises(TransportError, match="did not answer in time"):
                await fetch(network.transport(), server.url(), body=b"x" * 50 * 2**20)

    run(scenario)


@pytest.mark.parametrize("moment", ["head", "body"])
def test_cancelling_closes_the_connection_within_a_tick(run, serve, open_network, moment):
    ended = None

    async def notice(peer):
        await peer.request()
        if moment == "body":
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
        await peer.gone()
        ended.set()

    async def scenario():
        nonlocal ended
        ended = asyncio.Event()

        async def go():
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            await response.next()

        async with serve(notice) as server, open_network() as network:
            task = asyncio.create_task(go())
            await asyncio.sleep(0.05)

            task.cancel()
            for _ in range(3):
                await asyncio.sleep(0)

            assert task.cancelled()
            assert network.counts().open == 0
            await asyncio.wait_for(ended.wait(), 1)

    run(scenario)


def test_cancelling_after_the_answer_has_come_spares_the_connection(
    run, serve, polite, open_network, fetch
):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            transport = network.transport()
            await fetch(transport, server.url())
            task = asyncio.create_task(fetch(transport, server.url()))
            await asyncio.sleep(0)
            while network.counts().idle == 0:
                await asyncio.sleep(0)

            # The whole answer is here and its reader has not run yet.
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

            assert await fetch(transport, server.url()) == b"ok"
            assert server.accepted == 1

    run(scenario)


def test_closing_an_unread_answer_drops_its_connection(run, serve, open_network):
    async def endless(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
        await peer.gone()

    async def scenario():
        async with serve(endless) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))

            await response.aclose()
            await response.aclose()

            with pytest.raises(TransportError, match="closed before"):
                await response.next()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert network.counts().open == 0

    run(scenario)


def test_closing_an_answer_that_has_come_keeps_its_connection(run, serve, polite, open_network):
    async def scenario():
        async with serve(polite) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            await response.aclose()

            with pytest.raises(TransportError, match="closed before"):
                await response.next()
            assert network.counts().idle == 1

    run(scenario)


def test_an_answer_outlives_the_next_request_on_its_connection(run, serve, open_network, fetch):
    async def echo(peer):
        while (head := (await peer.request())[0]) != b"":
            await peer.answer(head.split()[1])

    async def scenario():
        async with serve(echo) as server, open_network() as network:
            transport = network.transport()
            first = await transport.send(UpstreamRequest(url=server.url("/first")))
            second = await fetch(transport, server.url("/second"))

            assert (await read_all(first), second) == (b"/first", b"/second")
            assert server.accepted == 1

    run(scenario)


def test_head_answers_have_no_body(run, serve, open_network, fetch):
    async def describe(peer):
        while (await peer.request())[0]:
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")

    async def scenario():
        async with serve(describe) as server, open_network() as network:
            transport = network.transport()
            for _ in range(2):
                response = await transport.send(UpstreamRequest(url=server.url(), method="HEAD"))
                assert response.headers["content-length"] == "100"
                assert await response.next() == b""

    run(scenario)


def test_redirects_are_answers_like_others(run, serve, open_network):
    async def redirect(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n")

    async def scenario():
        async with serve(redirect) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))

            assert (response.status, response.headers["location"]) == (302, "/x")
            assert await response.next() == b""

    run(scenario)


def test_nobody_listening_is_not_sent(run, serve, polite, open_network, fetch):
    async def scenario():
        async with serve(polite) as server:
            url = server.url()
        async with open_network() as network:
            with pytest.raises(TransportError, match="could not be reached") as caught:
                await fetch(network.transport(), url)

            assert (caught.value.status, caught.value.sent) == (502, False)

    run(scenario)


def test_a_proxy_of_the_environment_is_not_used(
    run, serve, polite, open_network, fetch, monkeypatch
):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:9")

    async def scenario():
        async with serve(polite) as server, open_network() as network:
            assert await fetch(network.transport(), server.url()) == b"ok"

    run(scenario)


def test_a_body_above_the_callers_limit_is_refused(run, serve, open_network, fetch):
    async def answer(peer):
        while (await peer.request())[0]:
            await peer.answer(b"x" * 1000)

    async def scenario():
        async with serve(answer) as server, open_network() as network:
            transport = network.transport()
            at_limit = await transport.send(UpstreamRequest(url=server.url()))
            above = await transport.send(UpstreamRequest(url=server.url()))

            assert len(await read_all(at_limit, 1000)) == 1000
            with pytest.raises(TransportError, match="larger than 999 bytes"):
                await read_all(above, 999)

    run(scenario)


def test_two_readers_of_one_answer_are_told_apart(run, serve, open_network):
    async def stall(peer):
        await peer.request()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n")
        await asyncio.sleep(0.05)
        await peer.say(b"done")
        await peer.gone()

    async def scenario():
        async with serve(stall) as server, open_network() as network:
            response = await network.transport().send(UpstreamRequest(url=server.url()))
            first = asyncio.create_task(response.next())
            await asyncio.sleep(0)

            with pytest.raises(RuntimeError, match="already being read"):
                await response.next()

            assert await first == b"done"

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
