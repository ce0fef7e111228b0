"""Laws of conduct: a format's functions are quick, silent and keep nothing."""

import math
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from gateway_core import Conversation, Losses, Text
from gateway_formats.fold import unfold
from gateway_kit.witness import Witness

from . import sample_values
from .case import Law, expect, law
from .harness import FormatHarness
from .streams import write_apart

LONGEST = 0.05
"""Seconds for which a function may keep the event loop."""
TRIES = 10
MARK = "secret4711"
ROUNDS = 60
SIZE = 4096
"""Characters of a text; what is kept of ROUNDS of them shows."""

Verb = Callable[[], object]


def verbs(harness: FormatHarness, text: str) -> Iterator[tuple[str, Verb]]:
    """Each function of the format with an ordinary argument that has this text."""
    conversation = Conversation(
        turns=(sample_values.user_turn(Text(text=text)),),
        sampling=sample_values.PLAIN.sampling,
        model=harness.target.model.id,
        dialect=harness.wire.dialect,
    )
    reply = sample_values.build_reply(Text(text=text))
    if harness.wire.vendor is not None:
        vendor = harness.vendor
        yield (
            "write_request",
            lambda: vendor.write_request(conversation, harness.target, Losses()),
        )
        for body in harness.replies:
            yield "read_reply", partial(vendor.read_reply, body)
        for stream in harness.streams:
            yield "stream_reader", partial(harness.read_stream, stream)
    if harness.wire.client is not None:
        yield "write_reply", partial(harness.write_reply, reply)
        yield "stream_writer", partial(harness.write_stream, [unfold(reply)])
        for body in asked(harness, conversation):
            yield "read_request", partial(harness.read_request, body)


def asked(harness: FormatHarness, conversation: Conversation) -> Iterator[bytes]:
    if harness.wire.vendor is not None:
        yield harness.write_request(replace(conversation, dialect=harness.wire.dialect))[0]
    else:
        yield from harness.requests[:1]


def _always(wire: object) -> bool:
    return True


@law(
    "conduct/prompt",
    "a function keeps the event loop for more than 50 ms",
    "do nothing in it that takes time: every other call waits for it",
    _always,
)
def prompt(harness: FormatHarness) -> None:
    for name, verb in verbs(harness, MARK):
        took = _shortest(verb)
        expect(took < LONGEST, f"{name} takes {took:.3f} s")


def _shortest(verb: Verb) -> float:
    """Seconds: a machine that is busy makes it long now and then, a function that waits always."""
    shortest = math.inf
    for _ in range(TRIES):
        started = time.perf_counter()
        verb()
        shortest = min(shortest, time.perf_counter() - started)
        if shortest < LONGEST:
            break
    return shortest


@law(
    "conduct/silent",
    "a function logs, prints or writes down what it is given",
    "leave the log to the gateway, which knows what is private",
    _always,
)
def silent(harness: FormatHarness) -> None:
    with Witness() as witness:
        for _, verb in verbs(harness, MARK):
            verb()
    expect(not witness.text.strip(), witness.text)
    expect(not witness.written, f"written: {witness.written}")


@law(
    "conduct/keeps-nothing",
    "what a call says stays in memory, or is in another answer",
    "keep nothing at module level of what a call says",
    _always,
)
def keeps_nothing(harness: FormatHarness) -> None:
    for name, verb in verbs(harness, "x" * SIZE):
        grown = _growth(verb)
        expect(grown < ROUNDS * SIZE // 8, f"{name}: {grown} bytes more after {ROUNDS} times")
    if harness.wire.client is not None and harness.wire.vendor is None:
        write_apart(harness)  # where a vendor's side reads them, streams/fresh does so


def _growth(verb: Verb) -> int:
    for _ in range(5):
        verb()
    tracemalloc.start()
    try:
        verb()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(ROUNDS):
            verb()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


LAWS: tuple[Law, ...] = (prompt, silent, keeps_nothing)
