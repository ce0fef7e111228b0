"""Tickets: good for a while, and once."""

import pytest

from gateway_core.identity.tickets import Tickets


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_ticket_can_be_looked_at_often_and_taken_once(clock: Clock) -> None:
    tickets = Tickets[str](300, clock)
    text = tickets.give("a")

    assert [tickets.look(text), tickets.look(text), tickets.take(text)] == ["a", "a", "a"]
    assert (tickets.look(text), tickets.take(text)) == (None, None)


def test_a_ticket_is_worth_nothing_when_its_time_is_over(clock: Clock) -> None:
    tickets = Tickets[str](300, clock)
    text = tickets.give("a")

    clock.now = 299.9
    assert tickets.look(text) == "a"
    clock.now = 300
    assert tickets.look(text) is None
    assert len(tickets) == 0


@pytest.mark.parametrize("other", ["", "x", "é", "\ud800", "a" * 10_000])
def test_no_other_text_is_a_ticket(clock: Clock, other: str) -> None:
    tickets = Tickets[str](300, clock)
    tickets.give("a")

    assert (tickets.look(other), tickets.take(other)) == (None, None)


def test_texts_are_long_and_differ(clock: Clock) -> None:
    tickets = Tickets[int](300, clock, size=16)
    texts = {tickets.give(number) for number in range(100)}

    assert len(texts) == 100
    assert min(map(len, texts)) >= 22


def test_the_oldest_goes_when_there_are_too_many(clock: Clock) -> None:
    tickets = Tickets[int](300, clock, most=2)

    texts = [tickets.give(number) for number in range(3)]

    assert [tickets.look(text) for text in texts] == [None, 1, 2]


def test_what_is_meant_is_dropped(clock: Clock) -> None:
    tickets = Tickets[int](300, clock)
    texts = [tickets.give(number) for number in range(4)]

    tickets.drop(lambda number: number % 2 == 0)

    assert [tickets.look(text) for text in texts] == [None, 1, None, 3]
