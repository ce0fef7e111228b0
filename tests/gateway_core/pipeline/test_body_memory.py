"""Bodies reserve what they will take, and give it back."""

import pytest

from gateway_core.contracts.errors import Unavailable
from gateway_core.pipeline.body_memory import COPIES, BodyMemory


def test_a_body_is_let_in_as_long_as_there_is_room() -> None:
    memory = BodyMemory()
    memory.room = 2 * COPIES * 100

    held = [memory.grow(0, 100), memory.grow(0, 100)]
    with pytest.raises(Unavailable) as refused:
        memory.grow(0, 1)
    memory.release(held[0])

    assert refused.value.retry_after == 1
    assert memory.grow(0, 100) == held[0]


def test_a_body_reserves_more_as_it_grows_and_never_less() -> None:
    memory = BodyMemory()

    held = memory.grow(memory.grow(0, 10), 100)
    same = memory.grow(held, 50)

    assert held == same == memory.reserved == COPIES * 100
    memory.release(same)
    assert memory.reserved == 0


def test_a_refused_body_keeps_what_it_had() -> None:
    memory = BodyMemory()
    memory.room = COPIES * 10
    held = memory.grow(0, 10)

    with pytest.raises(Unavailable):
        memory.grow(held, 11)

    assert memory.reserved == held
