"""Passwords: what may be chosen, and what counts while none is."""

import pytest

from gateway_administration.sign_in.passwords import (
    LONGEST,
    check_new,
    is_initial,
    is_public_initial,
    new_epoch,
)
from gateway_core.contracts.errors import BadRequest
from gateway_core.identity.placeholders import is_public

GOOD = "correct horse battery"


@pytest.mark.parametrize(
    "choice",
    [
        *("", "12345", "      ", "123456", " 123456 "),
        *("change-me", "ChangeMe", "REPLACE-ME", "your-password", "Your_Secure_Password"),
        *(" your-secure-password\n", "<your-password>", "a" * (LONGEST + 1), "ä" * LONGEST),
    ],
)
def test_a_bad_choice_is_refused(choice: str) -> None:
    with pytest.raises(BadRequest):
        check_new(choice)


@pytest.mark.parametrize("choice", ["1234567", "ää öü", GOOD, "a" * LONGEST])
def test_a_good_choice_is_not(choice: str) -> None:
    check_new(choice + "x" if len(choice) < 6 else choice)


def test_without_a_stored_one_the_initial_or_the_built_in_password_counts() -> None:
    assert is_initial("123456", None)
    assert not is_initial(GOOD, None)
    assert is_initial(GOOD, GOOD)
    assert not is_initial("123456", GOOD)


@pytest.mark.parametrize(
    ("initial", "known"),
    [(None, True), ("123456", True), ("Change-Me", True), (GOOD, False)],
)
def test_everybody_knows_the_built_in_password_and_the_placeholders(
    initial: str | None, known: bool
) -> None:
    assert is_public_initial(initial) is known
    assert initial is None or is_public(initial) is known


def test_epochs_differ() -> None:
    assert len({new_epoch() for _ in range(50)}) == 50
