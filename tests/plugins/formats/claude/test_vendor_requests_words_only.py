"""A conversation in which user and assistant take turns is written in one step, just the same."""

from gateway_format_claude.vendor_requests.blocks import BlockWriter
from gateway_format_claude.vendor_requests.models import Traits
from gateway_format_claude.vendor_requests.request import _write_messages, write_request
from gateway_format_claude.vendor_requests.words_only import write_turns
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from snapshots import provider, target

from gateway_core import Conversation, Losses, Model, Sampling, Text, Turn

roles = st.sampled_from(["user", "assistant", "system"])
parts = st.builds(
    lambda text, cache, signature: Text(text=text, cache=cache, signature=signature),
    st.sampled_from(["a", "b c", "", "  "]),
    st.sampled_from([None, None, None, "5m"]),
    st.sampled_from([None, None, None, "s"]),
)
turns = st.builds(
    lambda role, written, name: Turn(role, tuple(written), name),
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


def slowly(turns: list[Turn]) -> tuple[list[dict[str, object]], Losses]:
    losses = Losses()
    writer = BlockWriter("anthropic", native=False, unsigned=False, losses=losses)
    conversation = Conversation(turns=tuple(turns), keeps_prefill=True)
    messages = _write_messages(conversation, writer, Traits(), losses)
    return [message.members() for message in messages], losses


@given(st.one_of(alternating, st.lists(turns, max_size=4)))
def test_the_short_cut_writes_what_the_general_way_writes(conversation: list[Turn]) -> None:
    short = write_turns(conversation)

    assert short is None or (short, Losses().names) == (
        (general := slowly(conversation))[0],
        general[1].names,
    )


@given(alternating)
def test_turns_that_alternate_take_the_short_cut(conversation: list[Turn]) -> None:
    assert write_turns(conversation) is not None


@given(
    st.lists(parts, max_size=3),
    alternating.filter(lambda written: written[-1].role == "user"),
    st.one_of(
        st.just(Sampling()),
        st.builds(
            Sampling,
            max_tokens=st.sampled_from([None, 5, 5000]),
            temperature=st.sampled_from([None, 0.5, 1.5]),
            top_k=st.sampled_from([None, 3]),
            stop=st.sampled_from([(), ("a", " ")]),
            seed=st.sampled_from([None, 1]),
        ),
    ),
    st.sampled_from([None, "u"]),
    st.booleans(),
)
def test_a_plain_request_is_written_as_one_with_more_to_it(
    instructions: list[Text],
    written: list[Turn],
    sampling: Sampling,
    user: str | None,
    stream: bool,
) -> None:
    plain = Conversation(
        instructions=tuple(instructions),
        turns=tuple(written),
        sampling=sampling,
        user=user,
        service_tier=user,
        stream=stream,
    )
    more = replace(plain, keeps_prefill=True)

    quick, slow = (asked_of(each) for each in (plain, more))

    assert quick == slow


def asked_of(conversation: Conversation) -> tuple[bytes, list[str]]:
    losses = Losses()
    model = Model("claude-sonnet-4-5", max_output=1000)
    spec = provider("acme", format="claude", base_url="http://x")
    return write_request(conversation, target(spec, model), losses), list(losses.names)
