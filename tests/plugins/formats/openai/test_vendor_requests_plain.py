"""Turns of nothing but words are written in one step, just the same."""

from gateway_format_openai.vendor_requests import messages as dialogue
from gateway_format_openai.vendor_requests.draft import begin
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from pictures import provider, target

from gateway_core import AnyPart, Conversation, Losses, Model, Reasoning, Text, ToolCall, Turn

texts = st.sampled_from(["a", "b c", "ü", " ", ""])
plain: st.SearchStrategy[AnyPart] = texts.map(lambda text: Text(text=text))
parts = st.one_of(
    plain,
    plain,
    st.sampled_from(
        [
            Text(text="a", cache="5m"),
            Text(text="a", signature="s"),
            Text(text="a", extra={"x": Raw(b"1")}),
            Reasoning(text="r"),
            ToolCall(id="c", name="f"),
        ]
    ),
)
roles = st.sampled_from(["user", "assistant", "user", "assistant", "system"])
turns = st.builds(
    lambda role, said, name: Turn(role, tuple(said), name),
    roles,
    st.lists(plain, min_size=1, max_size=1) | st.lists(parts, max_size=3),
    st.sampled_from([None, None, None, "n"]),
)
LAST = Turn("user", (ToolCall(id="c", name="f"),))
"""Is left out, and keeps a conversation from being plain."""


@given(st.lists(plain, max_size=3), st.lists(turns, max_size=4), st.sampled_from(["", "openai"]))
def test_the_quick_way_writes_what_the_slow_way_writes(
    instructions: list[Text], said: list[Turn], dialect: str
) -> None:
    written = []
    for each in (tuple(said), (*said, LAST)):
        conversation = Conversation(instructions=tuple(instructions), turns=each, dialect=dialect)
        losses = Losses()
        draft = begin(conversation, target(provider("acme"), Model("m")), losses)
        messages = dialogue.write_messages(conversation, conversation.instructions, draft)
        written.append((messages, losses.names))

    assert dialogue.plain_messages((LAST,)) is None
    assert written[0] == written[1]


def test_words_go_the_quick_way() -> None:
    said = (Turn("user", (Text(text="a"), Text(text="b"))), Turn("assistant", (Text(text="c"),)))

    assert dialogue.plain_messages(said) == [
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "c"},
    ]
