"""Memory that runs short: first newcomers are refused, then idle clients are sent away."""

import pytest

from gateway_administration.machine import memory_size, memory_used, raise_descriptor_limit
from gateway_cli.memory_pressure import MIB, MemoryPressure, memory_budget
from gateway_core.pipeline.body_memory import BodyMemory

USED = [(79, False, False), (80, True, False), (89, True, False), (90, True, True)]


@pytest.mark.parametrize(("used", "refused", "closed"), USED)
def test_the_two_marks(used: int, refused: bool, closed: bool) -> None:
    reported: list[bool] = []
    closings: list[None] = []

    MemoryPressure(
        100, lambda: used, reported.append, lambda: closings.append(None), BodyMemory()
    ).check()

    assert reported == [refused]
    assert bool(closings) == closed


def test_requests_are_taken_again_when_memory_is_free() -> None:
    reported: list[bool] = []
    used = iter([95, 10])
    pressure = MemoryPressure(100, lambda: next(used), reported.append, lambda: None, BodyMemory())

    pressure.check()
    pressure.check()

    assert reported == [True, False]


@pytest.mark.parametrize(("budget", "used"), [(None, 10**12), (100, None)])
def test_what_is_not_known_limits_nothing(budget: int | None, used: int | None) -> None:
    reported: list[bool] = []

    MemoryPressure(budget, lambda: used, reported.append, lambda: None, BodyMemory()).check()

    assert reported == []


def test_bodies_may_take_what_else_is_free() -> None:
    used, bodies = iter([30, 50, 90, 20]), BodyMemory()
    pressure = MemoryPressure(100, lambda: next(used), lambda _: None, lambda: None, bodies)

    rooms = []
    for held in (0, 10, 10, 0):  # What bodies themselves use is not counted twice.
        bodies.reserved = held
        pressure.check()
        rooms.append(bodies.room)

    assert rooms == [50, 50, 50, 60]


def test_the_budget_is_shared_by_the_workers() -> None:
    assert memory_budget(None, 1000) == 700
    assert memory_budget(None, 1000, workers=2) == 350
    assert memory_budget(8, 1000, workers=2) == 4 * MIB
    assert memory_budget(None, None) is None


def test_this_machine_says_what_it_has() -> None:
    used, size = memory_used(), memory_size()

    assert used is None or used > MIB
    assert size is None or used is None or size > used
    assert (raise_descriptor_limit() or 1) > 0
