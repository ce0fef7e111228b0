"""Limits and rests that several gateways share, and what each does while the server is away."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from valkey_replicas import Replica, replicas
from valkey_server import ValkeyServer

from gateway_core import AccountRest, LimitReached, SharedLimits

A_MINUTE = SharedLimits(requests=10)
NAME = "key:k"


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def admitted(replica: Replica, count: int, limits: SharedLimits = A_MINUTE) -> int:
    answers = await asyncio.gather(*(replica.state.admit(NAME, limits) for _ in range(count)))
    return answers.count(None)


def test_a_limit_holds_exactly_for_all(server: ValkeyServer) -> None:
    async def work() -> None:
        async with replicas(server, 3) as three:
            limits = SharedLimits(requests=1000)
            counts = await asyncio.gather(*(admitted(each, 1000, limits) for each in three))

            assert sum(counts) == 1000
            assert all(each.state.trouble == "" for each in three)

    asyncio.run(work())


def test_a_refusal_says_how_much_is_used_and_when_there_is_room(server: ValkeyServer) -> None:
    async def work() -> LimitReached | None:
        async with replicas(server, 2) as (one, other):
            assert await admitted(one, 10) == 10
            return await other.state.admit(NAME, A_MINUTE)

    reached = asyncio.run(work())

    assert reached is not None
    assert (reached.limit, reached.used) == ("requests", 10)
    assert 50 < reached.wait <= 60


def test_tokens_of_one_count_at_the_others(server: ValkeyServer) -> None:
    async def work() -> LimitReached | None:
        async with replicas(server, 2) as (one, other):
            limits = SharedLimits(tokens=100)
            for _ in range(3):
                one.state.record(NAME, 40)
            # A name of its own: what was recorded is on its way before this is answered.
            assert await one.state.admit("key:other", limits) is None
            return await other.state.admit(NAME, limits)

    reached = asyncio.run(work())

    assert reached is not None
    assert (reached.limit, reached.used) == ("tokens", 120)
    assert 50 < reached.wait <= 60


def test_a_call_that_is_withdrawn_counts_nowhere(server: ValkeyServer) -> None:
    async def work() -> int:
        async with replicas(server, 2) as (one, other):
            assert await admitted(one, 10) == 10
            one.state.withdraw(NAME)
            assert await one.state.admit("key:other", A_MINUTE) is None
            return await admitted(other, 5)

    assert asyncio.run(work()) == 1


def test_a_call_that_is_cancelled_counts_nowhere(server: ValkeyServer) -> None:
    async def work() -> int:
        async with replicas(server, 2) as (one, other):
            calls = [asyncio.create_task(one.state.admit(NAME, A_MINUTE)) for _ in range(10)]
            await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
            assert await one.state.admit("key:other", A_MINUTE) is None
            return await admitted(other, 20)

    assert asyncio.run(work()) == 10


def test_calls_at_once_are_those_of_all(server: ValkeyServer) -> None:
    async def work() -> list[int]:
        limits = SharedLimits(at_once=3)
        async with replicas(server, 2) as (one, other):
            first = await admitted(one, 2, limits)
            second = await admitted(other, 2, limits)
            one.state.leave(NAME)
            assert await one.state.admit("key:other", A_MINUTE) is None
            return [first, second, await admitted(other, 2, limits)]

    assert asyncio.run(work()) == [2, 1, 1]


def test_each_counts_for_itself_while_the_server_is_away(server: ValkeyServer) -> None:
    async def work() -> Counter[int]:
        async with replicas(server, 2) as (one, other):
            assert await admitted(one, 4) == 4
            server.kill()
            counts = Counter({0: await admitted(one, 20), 1: await admitted(other, 20)})
            assert "each process counts for itself" in one.state.trouble
            return counts

    assert asyncio.run(work()) == {0: 6, 1: 10}


def test_a_server_that_comes_back_learns_what_was_used(server: ValkeyServer) -> None:
    async def work() -> list[int]:
        async with replicas(server, 3) as (one, other, third):
            assert await admitted(one, 2) == 2
            server.kill()
            await until(lambda: bool(one.state.trouble and other.state.trouble))
            away = await admitted(one, 2) + await admitted(other, 3)
            server.start()
            await until(lambda: not any(each.state.trouble for each in (one, other, third)))
            return [away, await admitted(third, 20)]

    assert asyncio.run(work()) == [5, 3]


def test_a_server_that_hangs_holds_nobody_up(server: ValkeyServer) -> None:
    async def work() -> float:
        async with replicas(server, 1, wait=0.1) as (one,):
            server.hold()
            begun = time.monotonic()
            assert await admitted(one, 20) == 10
            taken = time.monotonic() - begun
            server.release()
            await until(lambda: not one.state.trouble)
            assert await admitted(one, 20) == 0
            return taken

    assert asyncio.run(work()) < 2


def test_a_gateway_starts_without_the_server(tmp_path: Path) -> None:
    async def work() -> None:
        late = ValkeyServer(tmp_path)
        async with replicas(late, 1) as (one,):
            assert await admitted(one, 20) == 10
            late.start()
            await until(lambda: not one.state.trouble)
        late.kill()

    asyncio.run(work())


def test_a_rest_is_known_to_all_and_to_those_that_come_later(server: ValkeyServer) -> None:
    async def work() -> None:
        rest = AccountRest("a", "m", time.time() + 60, 2, 429, "too many")
        async with replicas(server, 2) as (one, other):
            one.state.publish(rest)
            await until(lambda: other.adopted == [rest])
            async with replicas(server, 1) as (late,):
                assert late.adopted == [rest]
            other.state.publish(AccountRest("a", "m"))
            await until(lambda: one.adopted == [AccountRest("a", "m")])
            async with replicas(server, 1) as (last,):
                assert last.adopted == []
            server.kill()
            one.state.publish(rest)
            server.start()
            await until(lambda: rest in other.adopted[1:])

    asyncio.run(work())
