"""A large upload is never in memory as a whole."""

from benchmarks.uploads import measure

LIMIT = 8.0
"""MiB, for 25 MiB of audio."""


def test_a_recording_adds_little_to_the_gateways_memory() -> None:
    added = measure()

    assert added < LIMIT
