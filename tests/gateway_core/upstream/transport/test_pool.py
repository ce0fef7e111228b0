"""Lending, queueing and counting, with connections that connect to nothing."""

import asyncio

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.transport.limits import TransportLimits
from gateway_core.upstream.transport.pool import Pool


class FakeConnection:
    def __init__(self):
        self.owner = None
        self.closed = False

    def abort(self):
        if not self.closed:
            self.closed = True
            if self.owner is not None:
                self.owner.retire(self)
                self.owner.lose(self)


class Setting:
    """A pool, how many times it dialled, and how often it was emptied."""

    def __init__(self, size):
        self.dialled = 0
        self.emptied = 0
        self.failure = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.pool = Pool(TransportLimits(connections=size, connect=0.05), self.dial, self.empty)

    async def dial(self):
        self.dialled += 1
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return FakeConnection()

    def empty(self):
        self.emptied += 1

    def counts(self):
        counts = self.pool.counts()
        return counts.open, counts.idle, counts.waiting


async def started(*coroutines):
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


def test_the_connection_used_last_is_lent_first(run):
    async def scenario():
        setting = Setting(2)
        one, two = await setting.pool.open(), await setting.pool.open()
        setting.pool.take_back(one)
        setting.pool.take_back(two)

        assert [setting.pool.take() for _ in range(3)] == [two, one, None]

    run(scenario)


@pytest.mark.parametrize("word", ["retire", "lose"])
def test_a_closing_connection_is_lent_no_more(run, word):
    async def scenario():
        setting = Setting(2)
        connection = await setting.pool.open()
        setting.pool.take_back(connection)

        getattr(setting.pool, word)(connection)

        assert setting.pool.take() is None
        assert setting.counts() == (word == "retire", 0, 0)

    run(scenario)


def test_whoever_waits_longest_is_served_first(run):
    async def scenario():
        setting = Setting(1)
        connection = await setting.pool.open()
        first, second = await started(setting.pool.open(), setting.pool.open())
        waiting = setting.counts()

        setting.pool.take_back(connection)
        assert await first is connection
        setting.pool.take_back(connection)
        assert await second is connection

        assert waiting == (1, 0, 2)
        assert setting.dialled == 1

    run(scenario)


def test_a_closed_connection_gives_its_place_to_who_waits(run):
    async def scenario():
        setting = Setting(1)
        connection = await setting.pool.open()
        (waiter,) = await started(setting.pool.open())

        connection.abort()

        assert await waiter is not connection
        assert setting.counts() == (1, 0, 0)

    run(scenario)


def test_a_connection_given_to_who_just_left_goes_to_the_next(run):
    async def scenario():
        setting = Setting(1)
        connection = await setting.pool.open()
        first, second = await started(setting.pool.open(), setting.pool.open())

        setting.pool.take_back(connection)
        first.cancel()

        assert await second is connection
        assert first.cancelled()

    run(scenario)


def test_a_connection_given_to_who_just_left_is_kept_when_nobody_waits(run):
    async def scenario():
        setting = Setting(1)
        connection = await setting.pool.open()
        (waiter,) = await started(setting.pool.open())

        setting.pool.take_back(connection)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)

        assert setting.counts() == (1, 1, 0)
        assert setting.pool.take() is connection

    run(scenario)


def test_a_place_given_to_who_just_left_is_free_again(run):
    async def scenario():
        setting = Setting(1)
        connection = await setting.pool.open()
        (waiter,) = await started(setting.pool.open())

        connection.abort()
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)

        assert setting.counts() == (0, 0, 0)
        assert setting.emptied == 1

    run(scenario)


def test_a_failed_attempt_frees_its_place(run):
    async def scenario():
        setting = Setting(1)
        setting.gate.clear()
        setting.failure = TransportError("no", sent=False)
        first, second = await started(setting.pool.open(), setting.pool.open())
        setting.gate.set()

        with pytest.raises(TransportError):
            await first
        with pytest.raises(TransportError):
            await second

        assert setting.counts() == (0, 0, 0)
        assert (setting.dialled, setting.emptied) == (2, 1)

    run(scenario)


def test_a_cancelled_attempt_frees_its_place(run):
    async def scenario():
        setting = Setting(1)
        setting.gate.clear()
        first, second = await started(setting.pool.open(), setting.pool.open())

        first.cancel()
        setting.gate.set()

        assert (await second).owner is setting.pool
        assert setting.counts() == (1, 0, 0)

    run(scenario)


def test_waiting_ends_when_time_is_up(run):
    async def scenario():
        setting = Setting(1)
        await setting.pool.open()

        with pytest.raises(TransportError, match="became free") as caught:
            await setting.pool.open()

        assert (caught.value.status, caught.value.sent) == (504, False)
        assert setting.counts() == (1, 0, 0)

    run(scenario)


def test_a_dead_connection_is_replaced_by_a_new_one_while_there_is_room(run):
    async def scenario():
        setting = Setting(2)
        kept = await setting.pool.open()
        setting.pool.take_back(kept)

        assert await setting.pool.replace() is not kept
        assert await setting.pool.replace() is kept

    run(scenario)


def test_closing_turns_everybody_away(run):
    async def scenario():
        setting = Setting(2)
        lent = await setting.pool.open()
        idle = await setting.pool.open()
        (waiter,) = await started(setting.pool.open())

        setting.pool.close()

        with pytest.raises(TransportError, match="shutting down"):
            await waiter
        assert lent.closed
        assert idle.closed
        assert setting.counts() == (0, 0, 0)
        assert setting.emptied == 1

    run(scenario)


def test_a_connection_that_arrives_after_closing_is_closed(run):
    async def scenario():
        setting = Setting(1)
        setting.gate.clear()
        (attempt,) = await started(setting.pool.open())

        setting.pool.close()
        setting.gate.set()

        with pytest.raises(TransportError, match="shutting down"):
            await attempt
        assert setting.counts() == (0, 0, 0)

    run(scenario)
