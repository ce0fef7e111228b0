"""Tickets: good for a while, once, and at every process on the database."""

import asyncio

import pytest
from manual_clock import Clock

from gateway_administration.stores.tickets import Purpose, TicketStore
from gateway_core.storage.database import Database
from gateway_core.storage.vault import Vault

pytestmark = pytest.mark.anyio
DOOR = Purpose(name="door", lifetime=300, most=3)
GATE = Purpose(name="gate", lifetime=600)


@pytest.fixture
def store(database: Database, vault: Vault, clock: Clock) -> TicketStore:
    return TicketStore(database, vault, clock=clock)


async def test_a_ticket_can_be_looked_at_often_and_taken_once(store: TicketStore) -> None:
    await store.add(DOOR, "text", "value", "")

    looked = [await store.look(DOOR, "text") for _ in range(2)]
    taken = [await store.take(DOOR, "text") for _ in range(2)]

    assert (looked, taken) == (["value", "value"], ["value", None])
    assert await store.look(DOOR, "text") is None


async def test_of_many_that_take_a_ticket_one_gets_it(
    store: TicketStore, database: Database, vault: Vault, clock: Clock
) -> None:
    other = TicketStore(database, vault, clock=clock)
    await store.add(DOOR, "text", "value", "")

    taken = await asyncio.gather(*(each.take(DOOR, "text") for each in [store, other] * 4))

    assert sorted(taken, key=str) == [None] * 7 + ["value"]


async def test_a_ticket_is_worth_nothing_when_its_time_is_over(
    store: TicketStore, clock: Clock
) -> None:
    await store.add(DOOR, "text", "value", "")

    clock.now += 299.9
    assert await store.look(DOOR, "text") == "value"
    clock.now += 0.1
    assert await store.look(DOOR, "text") is None
    assert await store.take(DOOR, "text") is None


async def test_a_clock_that_is_set_back_makes_no_ticket_last_longer(
    store: TicketStore, clock: Clock
) -> None:
    await store.add(DOOR, "text", "value", "")

    clock.now -= 3600

    assert await store.look(DOOR, "text") is None


@pytest.mark.parametrize("other", ["", "x", "é", "\ud800", "a" * 10_000, "text "])
async def test_no_other_text_is_a_ticket(store: TicketStore, other: str) -> None:
    await store.add(DOOR, "text", "value", "")

    assert (await store.look(DOOR, other), await store.take(DOOR, other)) == (None, None)


async def test_a_ticket_is_for_one_purpose(store: TicketStore) -> None:
    await store.add(DOOR, "text", "value", "")

    assert (await store.look(GATE, "text"), await store.take(GATE, "text")) == (None, None)
    assert await store.look(DOOR, "text") == "value"


async def test_the_oldest_goes_when_there_are_too_many_of_a_purpose(
    store: TicketStore, clock: Clock
) -> None:
    await store.add(GATE, "other", "value", "")
    for number in range(4):
        clock.now += 1
        await store.add(DOOR, str(number), "value", "")

    found = [await store.look(DOOR, str(number)) for number in range(4)]
    assert found == [None, "value", "value", "value"]
    assert await store.look(GATE, "other") == "value"


async def test_an_owners_tickets_are_dropped_together(store: TicketStore) -> None:
    for purpose, text, owner in ((DOOR, "a", "me"), (DOOR, "b", "you"), (GATE, "c", "me")):
        await store.add(purpose, text, "value", owner)

    await store.drop(DOOR, "me")

    assert await store.look(DOOR, "a") is None
    assert await store.look(DOOR, "b") == await store.look(GATE, "c") == "value"


async def test_the_database_tells_neither_text_nor_value_and_forgets_what_is_over(
    store: TicketStore, database: Database, clock: Clock
) -> None:
    await store.add(DOOR, "canary-text", "canary-value", "")
    rows = await database.fetch("SELECT * FROM tickets")
    clock.now += 300

    await store.add(DOOR, "next", "value", "")

    assert "canary" not in str(rows)
    assert len(await database.fetch("SELECT id FROM tickets")) == 1


async def test_a_value_that_was_altered_or_moved_is_none(
    store: TicketStore, database: Database
) -> None:
    await store.add(DOOR, "one", "value", "")
    await store.add(DOOR, "two", "other", "")

    await database.execute("UPDATE tickets SET value = (SELECT min(value) FROM tickets)")

    assert {await store.look(DOOR, "one"), await store.look(DOOR, "two")} - {"value", "other"} == {
        None
    }


async def test_a_ticket_is_good_where_the_clock_is_some_seconds_behind(
    store: TicketStore, clock: Clock
) -> None:
    await store.add(DOOR, "text", "value", "")

    clock.now -= 5

    assert await store.look(DOOR, "text") == "value"
    assert await store.take(DOOR, "text") == "value"


async def test_no_revision_of_a_value_is_lost(
    store: TicketStore, database: Database, vault: Vault, clock: Clock
) -> None:
    other = TicketStore(database, vault, clock=clock)
    await store.add(DOOR, "text", "", "")

    await asyncio.gather(
        *(each.revise(DOOR, "text", lambda now: now + "x") for each in [store, other] * 4)
    )

    assert await other.look(DOOR, "text") == "x" * 8


async def test_what_is_no_ticket_is_not_revised(store: TicketStore, clock: Clock) -> None:
    await store.add(DOOR, "text", "value", "")
    clock.now += 300
    called = list[str]()

    for text in ("text", "other"):
        await store.revise(DOOR, text, lambda now: called.append(now) or now)  # type: ignore[func-returns-value]

    assert called == []


async def test_a_carried_ticket_stores_nothing_before_it_is_spent(
    store: TicketStore, database: Database, vault: Vault, clock: Clock
) -> None:
    other = TicketStore(database, vault, clock=clock)
    sealed = store.carried(DOOR, "text", "canary")
    assert "canary" not in sealed
    assert await other.look_carried(DOOR, "text", sealed) == "canary"
    assert await database.fetch("SELECT * FROM tickets") == []

    spent = await asyncio.gather(*(each.spend(DOOR, "text") for each in [store, other] * 4))

    assert sorted(spent) == [False] * 7 + [True]
    assert await store.look_carried(DOOR, "text", sealed) is None


async def test_a_carried_ticket_is_good_for_a_while_and_not_before_it_was_made(
    store: TicketStore, clock: Clock
) -> None:
    sealed = store.carried(DOOR, "text", "value")
    found = list[str | None]()
    for seconds in (-1, 1, 299.9, 0.1):
        clock.now += seconds
        found.append(await store.look_carried(DOOR, "text", sealed))

    assert found == [None, "value", "value", None]


async def test_a_carried_ticket_is_for_its_text_and_purpose(store: TicketStore) -> None:
    sealed = store.carried(DOOR, "text", "value")

    for purpose, text, shown in (
        (GATE, "text", sealed),
        (DOOR, "another", sealed),
        (DOOR, "text", sealed[:-2]),
        (DOOR, "text", ""),
        (DOOR, "text", "v1.\udc80"),
    ):
        assert await store.look_carried(purpose, text, shown) is None


async def test_what_was_spent_stays_spent_as_long_as_it_would_be_good(
    store: TicketStore, clock: Clock
) -> None:
    sealed = store.carried(DOOR, "text", "value")
    clock.now += 200
    assert await store.spend(DOOR, "text")
    clock.now += 99

    await store.add(DOOR, "next", "value", "")

    assert await store.look_carried(DOOR, "text", sealed) is None
