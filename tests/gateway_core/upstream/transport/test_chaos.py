"""Everything going wrong at once: afterwards all is as it was, and no answer was mixed up."""

import asyncio
import random

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import read_all

DEEDS = ["answer"] * 6 + ["chunks", "close", "cut", "reset", "stall", "idle close", "rubbish"]


PLACES = 8


async def misbehave(peer, dice, calm):
    while (head := (await peer.request())[0]) != b"":
        if head.startswith(b"PUT"):
            # Answered only when every place is taken at the same time.
            await calm.wait()
            await peer.answer()
            continue
        body = head.split()[1] * dice.randrange(1, 50)
        deed = dice.choice(DEEDS)
        if deed in ("answer", "idle close"):
            await peer.answer(body)
        elif deed == "chunks":
            await peer.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            await peer.say(*(b"%x\r\n%b\r\n" % (len(body), body) for _ in range(3)), b"0\r\n\r\n")
        elif deed == "cut":
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n" + body)
        elif deed == "stall":
            await peer.gone()
        elif deed == "rubbish":
            await peer.say(b"rubbish\r\n")
        elif deed == "reset":
            peer.reset()
        if deed not in ("answer", "chunks"):
            return


async def ask(transport, server, dice, number):
    """Whether a whole answer came; sometimes it is left unread."""
    path = f"/{number}/"
    try:
        response = await transport.send(UpstreamRequest(url=server.url(path)))
        await asyncio.sleep(dice.choice([0, 0, 0.001]))
        try:
            if dice.random() < 0.2:
                return False
            body = await read_all(response)
        finally:
            await response.aclose()
    except TransportError:
        return False
    assert body == path.encode() * (len(body) // len(path))
    return True


@pytest.mark.parametrize("seed", range(3))
def test_after_chaos_everything_works_and_nothing_is_lost(run, serve, open_network, fetch, seed):
    async def scenario():
        dice = random.Random(seed)
        calm = asyncio.Barrier(PLACES)
        limits = {"connections": PLACES, "first_byte": 0.2, "silence": 0.2, "connect": 5.0}
        async with (
            serve(lambda peer: misbehave(peer, dice, calm)) as server,
            open_network(**limits) as network,
        ):
            transport = network.transport()
            tasks = [asyncio.create_task(ask(transport, server, dice, n)) for n in range(300)]
            await asyncio.sleep(0)
            # These still queue, so they cannot have ended.
            for task in tasks[-10:]:
                task.cancel()
            while not all(task.done() for task in tasks):
                if dice.random() < 0.1:
                    dice.choice(tasks).cancel()
                assert network.counts().open <= PLACES
                await asyncio.sleep(0.001)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            kinds = {result if isinstance(result, bool) else type(result) for result in results}

            assert kinds == {True, False, asyncio.CancelledError}
            assert results.count(True) > 50
            puts = (
                fetch(transport, server.url(), method="PUT", first_byte_timeout=10.0)
                for _ in range(PLACES)
            )
            assert await asyncio.gather(*puts) == [b"ok"] * PLACES
            assert (network.counts().waiting, network.counts().open) == (0, PLACES)

    run(scenario)
