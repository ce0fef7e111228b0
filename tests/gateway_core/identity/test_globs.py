import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.identity.globs import glob
from gateway_dashboard_api.glob_remainders import remainders

SMALL = st.text("ab/*", max_size=12)
ANY = st.text(max_size=12) | st.text("aAßẞſsIıİK/*?[]", max_size=12)


def fits(pattern: str, name: str) -> bool:
    """The meaning of a glob, letter by letter: slow and plain."""
    pattern, name = pattern.casefold(), name.casefold()
    row = [True] + [False] * len(name)
    for letter in pattern:
        after = [letter == "*" and row[0]]
        for place, other in enumerate(name):
            if letter == "*":
                after.append(row[place + 1] or after[place])
            else:
                after.append(row[place] and letter == other)
        row = after
    return row[-1]


@given(pattern=SMALL, name=SMALL)
def test_a_glob_means_what_it_says(pattern: str, name: str) -> None:
    assert glob(pattern)(name) is fits(pattern, name)


@given(pattern=ANY, name=ANY)
def test_a_glob_means_what_it_says_in_any_script(pattern: str, name: str) -> None:
    assert glob(pattern)(name) is fits(pattern, name)


@given(pieces=st.lists(st.text("ab/", max_size=3), min_size=1, max_size=6), filling=SMALL)
def test_a_star_stands_for_anything(pieces: list[str], filling: str) -> None:
    assert glob("*".join(pieces))(filling.join(pieces))


@pytest.mark.parametrize(
    ("pattern", "name", "is_match"),
    [
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("*", "openai/gpt-4o", True),
        ("openai/*", "openai/gpt-4o", True),
        ("openai/*", "openai/a/b", True),
        ("OpenAI/GPT-*", "openai/gpt-4o", True),
        ("openai/*", "xopenai/gpt", False),
        ("*mini", "openai/gpt-mini-2", False),
        ("aa*aa", "aaa", False),
        ("a?c", "abc", False),
        ("[ab]", "a", False),
        ("a.c", "abc", False),
    ],
)
def test_only_stars_are_special(pattern: str, name: str, is_match: bool) -> None:
    assert glob(pattern)(name) is is_match


def test_no_pattern_takes_long() -> None:
    patterns = ["a*" * 100 + "b", "*a" * 128, "*" * 256, "aaaa*" * 51]
    name = "a" * 512

    began = time.process_time()
    for pattern in patterns:
        glob(pattern)(name)

    assert time.process_time() - began < 0.1


@given(pattern=SMALL, beginning=SMALL, rest=SMALL)
def test_what_is_left_of_a_glob_fits_the_rest_of_what_it_fits(
    pattern: str, beginning: str, rest: str
) -> None:
    left = remainders(pattern, beginning)

    assert any(glob(each)(rest) for each in left) is fits(pattern, beginning + rest)
