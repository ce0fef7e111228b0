"""Words and numbers for how much to think."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_formats.effort import EFFORTS, budget_of, effort_of


@pytest.mark.parametrize("word", EFFORTS)
def test_a_word_is_its_own_budgets_word(word: str) -> None:
    assert effort_of(budget_of(word)) == word


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_more_tokens_are_never_a_weaker_word(one: int, other: int) -> None:
    less, more = sorted((one, other))

    assert EFFORTS.index(effort_of(less)) <= EFFORTS.index(effort_of(more))


@given(st.integers(1, 65536))
def test_a_budget_is_never_rounded_down(budget: int) -> None:
    assert budget_of(effort_of(budget)) >= budget


def test_what_is_not_known_is_in_the_middle() -> None:
    assert budget_of("immense") == budget_of("medium")
    assert effort_of(-1) == "medium"
