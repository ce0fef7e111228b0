"""A stream against its format's grammar."""

from gateway_core import Grammar
from gateway_formats.grammar import find_violation

GRAMMAR = Grammar(words=lambda stream: stream.decode().split(), pattern="start (word )*end ")


def test_a_well_formed_stream_violates_nothing() -> None:
    assert find_violation(GRAMMAR, b"start end") is None
    assert find_violation(GRAMMAR, b"start word word end") is None


def test_a_violation_shows_what_was_said() -> None:
    assert find_violation(GRAMMAR, b"start word") == "not a well-formed stream: start word"
    assert find_violation(GRAMMAR, b"start end end") == "not a well-formed stream: start end end"
    assert find_violation(GRAMMAR, b"") == "not a well-formed stream: nothing"
