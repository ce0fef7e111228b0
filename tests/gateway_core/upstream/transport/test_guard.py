"""Look-ups, and what they may lead to."""

import asyncio
import socket

import pytest

from gateway_core.contracts.errors import TransportError
from gateway_core.upstream.transport.addresses import AddressPolicy
from gateway_core.upstream.transport.failures import AddressForbidden
from gateway_core.upstream.transport.guard import NAMES, REMEMBERED, AddressGuard


class Names:
    """A resolver that plays its answers in order and repeats the last."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.received = []

    async def __call__(self, host):
        self.received.append(host)
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_every_address_of_a_name_must_be_allowed(run):
    async def scenario():
        guard = AddressGuard(resolve=Names(["93.184.216.34", "127.0.0.1"]))

        assert await guard.addresses("a.test", 443, AddressPolicy.OPERATOR) == [
            "93.184.216.34",
            "127.0.0.1",
        ]
        with pytest.raises(AddressForbidden, match="not in a permitted network") as caught:
            await guard.addresses("a.test", 443, AddressPolicy.PUBLIC)

        assert caught.value.sent is False
        assert "127" not in caught.value.message

    run(scenario)


def test_an_answer_that_changes_is_checked_again(run):
    async def scenario():
        clock = Clock()
        names = Names(["93.184.216.34"], ["127.0.0.1"])
        guard = AddressGuard(resolve=names, clock=clock)

        assert await guard.addresses("a.test", 80, AddressPolicy.PUBLIC) == ["93.184.216.34"]
        clock.now += REMEMBERED - 1
        assert await guard.addresses("a.test", 80, AddressPolicy.PUBLIC) == ["93.184.216.34"]
        clock.now += 2
        with pytest.raises(AddressForbidden):
            await guard.addresses("a.test", 80, AddressPolicy.PUBLIC)

        assert names.received == ["a.test", "a.test"]

    run(scenario)


def test_a_remembered_answer_is_checked_for_everybody_who_asks(run):
    async def scenario():
        guard = AddressGuard(resolve=Names(["10.0.0.1"]))
        await guard.addresses("a.test", 80, AddressPolicy.OPERATOR)

        with pytest.raises(AddressForbidden):
            await guard.addresses("a.test", 80, AddressPolicy.PUBLIC)

    run(scenario)


def test_many_askers_cause_one_look_up(run):
    async def scenario():
        names = Names(["93.184.216.34"])
        guard = AddressGuard(resolve=names)

        await asyncio.gather(
            *(guard.addresses("a.test", 80, AddressPolicy.PUBLIC) for _ in range(50))
        )

        assert names.received == ["a.test"]
        assert not guard._lookups

    run(scenario)


def test_a_cancelled_asker_does_not_take_the_others_along(run):
    async def scenario():
        names = Names(["93.184.216.34"])
        guard = AddressGuard(resolve=names)
        first, second = (
            asyncio.create_task(guard.addresses("a.test", 80, AddressPolicy.PUBLIC))
            for _ in range(2)
        )
        await asyncio.sleep(0)

        first.cancel()

        assert await second == ["93.184.216.34"]
        assert not guard._lookups

    run(scenario)


@pytest.mark.parametrize("failure", [socket.gaierror(-2, "unknown"), []], ids=["error", "empty"])
def test_a_name_that_is_unknown_is_not_remembered(run, failure):
    async def scenario():
        guard = AddressGuard(resolve=Names(failure, ["93.184.216.34"]))

        with pytest.raises(TransportError, match="could not be resolved") as caught:
            await guard.addresses("a.test", 80, AddressPolicy.PUBLIC)

        assert (caught.value.status, caught.value.sent) == (502, False)
        assert await guard.addresses("a.test", 80, AddressPolicy.PUBLIC) == ["93.184.216.34"]

    run(scenario)


def test_the_memory_is_bounded(run):
    async def scenario():
        names = Names(["93.184.216.34"])
        guard = AddressGuard(resolve=names)

        for number in range(NAMES + 10):
            await guard.addresses(f"a{number}.test", 80, AddressPolicy.PUBLIC)

        assert len(guard._known) == NAMES
        await guard.addresses(f"a{NAMES + 9}.test", 80, AddressPolicy.PUBLIC)
        assert len(names.received) == NAMES + 10

    run(scenario)


def test_addresses_are_not_looked_up(run):
    async def scenario():
        guard = AddressGuard(resolve=Names(OSError("never asked")))

        assert await guard.addresses("8.8.8.8", 443, AddressPolicy.PUBLIC) == ["8.8.8.8"]
        assert await guard.addresses("::1", 443, AddressPolicy.OPERATOR) == ["::1"]

    run(scenario)


@pytest.mark.parametrize("port", [22, 25, 81, 3306, 5432, 6379])
def test_the_public_policy_reaches_ports_of_the_web_only(run, port):
    async def scenario():
        guard = AddressGuard(resolve=Names(["93.184.216.34"]))

        with pytest.raises(AddressForbidden, match="port"):
            await guard.addresses("a.test", port, AddressPolicy.PUBLIC)
        for allowed in (80, 443, 8080, 8443):
            await guard.addresses("a.test", allowed, AddressPolicy.PUBLIC)
        await guard.addresses("a.test", port, AddressPolicy.OPERATOR)

    run(scenario)


@pytest.mark.parametrize(
    ("listener", "address", "port"),
    [
        (("127.0.0.1", 20128), "127.0.0.1", 20128),
        (("127.0.0.1", 20128), "::ffff:127.0.0.1", 20128),
        (("::1", 20128), "::1", 20128),
        (("0.0.0.0", 20128), "127.0.0.1", 20128),
        (("0.0.0.0", 20128), "127.9.9.9", 20128),
        (("::", 20128), "::1", 20128),
        (("10.0.0.5", 20128), "10.0.0.5", 20128),
    ],
)
def test_the_gateways_own_listener_is_refused(run, listener, address, port):
    async def scenario():
        guard = AddressGuard(resolve=Names([address]), refuse=frozenset({listener}))

        with pytest.raises(AddressForbidden, match="the gateway itself"):
            await guard.addresses("a.test", port, AddressPolicy.OPERATOR)
        assert await guard.addresses("a.test", port + 1, AddressPolicy.OPERATOR)

    run(scenario)


def test_a_connection_from_an_address_to_itself_is_the_gateways_own_listener():
    guard = AddressGuard(refuse=frozenset({("0.0.0.0", 20128)}))

    guard.check_peer(("192.168.1.5", 40000), ("192.168.1.5", 80))
    guard.check_peer(("192.168.1.5", 40000), ("192.168.1.6", 20128))
    with pytest.raises(AddressForbidden):
        guard.check_peer(("192.168.1.5", 40000), ("192.168.1.5", 20128))


def test_the_system_is_asked_by_default(run):
    async def scenario():
        assert "127.0.0.1" in await AddressGuard().addresses(
            "localhost", 80, AddressPolicy.OPERATOR
        )

    run(scenario)
