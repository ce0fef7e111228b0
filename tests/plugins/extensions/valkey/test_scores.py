"""The scores of accounts, which gateways add up in Valkey."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from time import time

from gateway_extension_valkey import scores
from gateway_extension_valkey.state import ValkeyState
from redis.asyncio import Redis
from valkey_server import ValkeyServer

from gateway_core.config.environment import Environment
from gateway_core.contracts.errors import TooSlow
from gateway_core.routing.cooldowns import Cooldowns
from gateway_core.routing.failure_rules import FailureClass

FAILED = FailureClass(retry=True)


class Gateway:
    """What one gateway knows of its accounts."""

    def __init__(self, server: ValkeyServer) -> None:
        self.state = ValkeyState(server.url, "test", 0.5)
        self.accounts = Cooldowns(Environment(), time, self.state.publish)

    def fail(self, model: str = "m", times: int = 1) -> None:
        for _ in range(times):
            self.accounts.record_failure("a", model, TooSlow("no answer"), FAILED)

    def score(self, model: str = "m") -> float:
        return self.accounts.score("a", model)


@asynccontextmanager
async def gateways(server: ValkeyServer, count: int) -> AsyncIterator[list[Gateway]]:
    async with AsyncExitStack() as stack:
        made = [Gateway(server) for _ in range(count)]
        for each in made:
            await stack.enter_async_context(each.state.connect(each.accounts.adopt))
        yield made


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


def test_failures_and_answers_of_all_gateways_are_added_up(server: ValkeyServer) -> None:
    async def work() -> None:
        async with gateways(server, 3) as (one, two, three):
            for each in (one, two):
                each.fail()
            await until(lambda: {each.score() for each in (one, two, three)} == {50})
            assert one.accounts.find("a", "m") is None  # It rests nowhere.
            three.accounts.record_success("a", "m")
            await until(lambda: {each.score() for each in (one, two, three)} == {60})
            async with gateways(server, 1) as (late,):
                assert late.score() == 60
                assert late.score("another") == 100

    asyncio.run(work())


def test_an_account_that_is_well_again_is_so_at_all(server: ValkeyServer) -> None:
    async def work() -> None:
        async with gateways(server, 2) as (one, other):
            one.fail()
            await until(lambda: other.score() == 75)
            for _ in range(5):
                other.accounts.record_success("a", "m")
            await until(lambda: one.score() == 100)
            one.fail()
            await until(lambda: other.score() == 75)

    asyncio.run(work())


def test_a_server_that_lost_everything_learns_the_scores_anew(server: ValkeyServer) -> None:
    async def work() -> None:
        async with gateways(server, 2) as (one, other):
            one.fail()
            await until(lambda: other.score() == 75)
            server.kill()
            await until(lambda: bool(one.state.trouble and other.state.trouble))
            one.fail()
            other.fail("second")
            assert (one.score(), other.score()) == (50, 75)
            server.start()
            await until(lambda: (one.score(), other.score()) == (50, 50))
            await until(lambda: one.score("second") == 75)
            async with gateways(server, 1) as (late,):
                assert (late.score(), late.score("second")) == (50, 75)

    asyncio.run(work())


def test_a_gateway_that_was_cut_off_adds_only_what_is_new(server: ValkeyServer) -> None:
    async def work() -> None:
        async with gateways(server, 2) as (one, other):
            one.fail(times=3)
            await until(lambda: other.score() == 25)
            # The server drops the connections, and keeps everything.
            async with Redis.from_url(server.url.replace("valkey", "redis")) as client:
                await client.execute_command("CLIENT", "KILL", "TYPE", "normal")
            one.accounts.record_success("a", "m")
            await until(lambda: (one.score(), other.score()) == (35, 35))

    asyncio.run(work())


def test_many_failures_are_few_messages_and_take_bounded_room(server: ValkeyServer) -> None:
    number = scores.MOST + 2000

    async def work() -> None:
        async with gateways(server, 2) as (one, other):
            address = server.url.replace("valkey", "redis")
            async with Redis.from_url(address) as client, client.pubsub() as listener:
                await listener.subscribe("test:scores:changes")
                for _ in range(10):
                    one.fail("m")
                await until(lambda: other.score() == 0)
                for model in range(number):
                    one.fail(f"model-{model}")
                await until(lambda: other.score(f"model-{number - 1}") == 75)
                messages = 0
                while await listener.get_message(ignore_subscribe_messages=True, timeout=0.01):
                    messages += 1
                assert messages <= 3 + scores.MOST / scores.AT_ONCE
                assert await client.hlen("{test:scores}") <= scores.MOST
            assert len(one.state._scores._known) == len(other.state._scores._known) == scores.MOST
            assert len(one.accounts._scores) == scores.MOST

    asyncio.run(work())


def test_what_is_forgotten_while_the_server_is_away_is_not_sent_again(server: ValkeyServer) -> None:
    async def work() -> None:
        async with gateways(server, 1) as (one,):
            server.hold()
            waiting = one.state._scores._changes
            one.fail("first")
            await until(lambda: not waiting)  # It is on its way, and gets no answer.
            for model in range(scores.MOST):
                one.fail(f"model-{model}")
            await until(lambda: bool(one.state.trouble))
            assert ("a", "first") not in waiting
            assert len(waiting) == scores.MOST
            server.release()
            await until(lambda: not one.state.trouble and not waiting)

    asyncio.run(work())
