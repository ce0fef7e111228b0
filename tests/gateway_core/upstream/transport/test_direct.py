"""The direct carrier: what goes out, what comes back, and how an exchange ends early."""

import asyncio

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import read_all


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
                "user-agent: model-gateway\r\n"
                "accept-encoding: identity\r\n"
                "content-length: 7\r\n\r\n"
            )
            assert seen == [(head.encode(), b'{"a":1}')]

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


def test_a_server_that_hangs_up_during_the_request_is_an_error_and_no_more(
    run, serve, open_network, fetch, caplog
):
    async def close_connection(peer):
        await peer.head()
        peer.reset()

    async def scenario():
        async with serve(close_connection) as server, open_network() as network:
            with pytest.raises(TransportError, match="before it answered") as caught:
                await fetch(network.transport(), server.url(), body=b"x" * 50 * 2**20)

            assert caught.value.sent

    run(scenario)

    assert caplog.messages == []


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
