"""A conversation in which user and assistant take turns is written in one step, just the same."""

from gateway_format_claude.blocks import BlockWriter
from gateway_format_claude.history import Message, arranged
from gateway_format_claude.models import Traits
from gateway_format_claude.vendor_requests import _written, plain_messages
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import Losses, Text, Turn

roles = st.sampled_from(["user", "assistant", "system"])
parts = st.builds(
    lambda text, cache, signature: Text(text=text, cache=cache, signature=signature),
    st.sampled_from(["a", "b c", "", "  "]),
    st.sampled_from([None, None, None, "5m"]),
    st.sampled_from([None, None, None, "s"]),
)
turns = st.builds(
    lambda role, said, name: Turn(role, tuple(said), name),
    roles,
    st.lists(parts, max_size=2),
    st.sampled_from([None, None, None, "n"]),
)
alternating = st.lists(st.sampled_from(["a", "b c", "ü"]), min_size=1, max_size=6).map(
    lambda texts: [
        Turn("assistant" if index % 2 else "user", (Text(text=text),))
        for index, text in enumerate(texts)
    ]
)


def written(said: list[Turn]) -> tuple[list[Message], Losses]:
    losses = Losses()
    writer = BlockWriter("anthropic", native=False, unsigned=False, losses=losses)
    return arranged(
        [m for turn in said for m in _written(turn, writer, Traits(), losses)], losses
    ), losses


@given(st.one_of(alternating, st.lists(turns, max_size=4)))
def test_the_quick_way_writes_what_the_slow_way_writes(said: list[Turn]) -> None:
    quick = plain_messages(said)

    slow, losses = written(said)
    assert quick is None or (quick, bool(losses)) == (slow, False)


@given(alternating)
def test_turns_that_alternate_go_the_quick_way(said: list[Turn]) -> None:
    assert plain_messages(said) is not None
