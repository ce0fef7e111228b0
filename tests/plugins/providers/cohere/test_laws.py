"""Laws: any conversation makes a request in the form that Cohere documents."""

from typing import Any

import msgspec
from gateway_provider_cohere import CHAT, COHERE
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

assert CHAT.vendor is not None
VENDOR = CHAT.vendor

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ids = st.sampled_from(["c1", "c2"])
texts = st.builds(Text, text=words)
media = st.builds(
    Media,
    kind=st.sampled_from(["image", "audio", "document"]),
    data=st.sampled_from([None, "AAAA"]),
    url=st.sampled_from([None, "https://a/b.png"]),
    text=st.none() | words,
    name=st.none() | words,
)
parts = st.one_of(
    texts,
    media,
    st.builds(Refusal, text=words),
    st.builds(Reasoning, text=words),
    st.builds(ToolCall, id=ids, name=ids, arguments=words),
    st.builds(ToolResult, call_id=ids, content=st.lists(texts | media, max_size=2).map(tuple)),
    st.just(Foreign(dialect="other", type="t", raw=Raw(b"{}"))),
)
conversations = st.builds(
    Conversation,
    instructions=st.lists(texts, max_size=2).map(tuple),
    turns=st.lists(
        st.builds(
            Turn,
            st.sampled_from(["user", "assistant", "system"]),
            st.lists(parts, max_size=4).map(tuple),
        ),
        max_size=4,
    ).map(tuple),
    tools=st.lists(st.builds(Tool, name=ids), max_size=2).map(tuple),
    tool_choice=st.none()
    | st.builds(ToolChoice, st.sampled_from(["auto", "none", "required"]))
    | st.builds(ToolChoice, st.just("only"), st.tuples(ids)),
)
MEMBERS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "tool_plan"},
    "tool": {"role", "content", "tool_call_id"},
}


@given(conversations, st.sampled_from(COHERE.models))
def test_every_request_has_the_documented_form(conversation: Conversation, model: Any) -> None:
    try:
        raw = VENDOR.write_request(conversation, Target(COHERE, model), Losses())
    except BadRequest:
        return

    body = msgspec.json.decode(raw)
    assert body["messages"]
    for message in body["messages"]:
        assert message.keys() <= MEMBERS[message["role"]]
        assert len(message) > 1
        assert all(message.values())
        for call in message.get("tool_calls", ()):
            assert isinstance(msgspec.json.decode(call["function"]["arguments"]), dict)
    assert body.get("tools") != []
    assert "tools" in body or "tool_choice" not in body
