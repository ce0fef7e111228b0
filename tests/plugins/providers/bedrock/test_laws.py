"""Laws: any conversation makes a request that the vendor's library accepts, in the right order."""

from typing import Any

import msgspec
from gateway_provider_bedrock import BEDROCK, CONVERSE
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Conversation,
    Foreign,
    Losses,
    Media,
    Model,
    Output,
    Reasoning,
    Refusal,
    ReplyFailed,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

assert CONVERSE.vendor is not None
VENDOR = CONVERSE.vendor

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text("abc_-1", min_size=1, max_size=8)
ids = st.sampled_from(["c1", "c2", "c3", "not an id"])
caches = st.sampled_from([None, None, "5m", "1h"])
texts = st.builds(Text, text=words, cache=caches)
media = st.builds(
    Media,
    kind=st.sampled_from(["image", "audio", "video", "document"]),
    media_type=st.sampled_from([None, "image/png", "audio/wav", "video/mp4", "text/plain", "odd"]),
    data=st.sampled_from([None, "AAAA"]),
    url=st.sampled_from([None, "https://a/b.png", "s3://bucket/b.png"]),
    text=st.none() | words,
    name=st.none() | words,
)
parts = st.one_of(
    texts,
    media,
    st.builds(Refusal, text=words),
    st.builds(
        Reasoning,
        text=words,
        signature=st.none() | names,
        sealed=st.sampled_from([None, "QQ=="]),
        origin=st.sampled_from(["", "bedrock", "~bedrock", "other"]),
    ),
    st.builds(ToolCall, id=ids, name=names, arguments=words),
    st.builds(
        ToolResult,
        call_id=ids,
        content=st.lists(texts | media, max_size=2).map(tuple),
        failed=st.booleans(),
        cache=caches,
    ),
    st.just(Foreign(dialect="other", type="t", raw=Raw(b"{}"))),
)
turns = st.builds(
    Turn,
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(parts, max_size=4).map(tuple),
)
schemas = st.sampled_from([None, Raw(b'{"type":"object"}'), Raw(b"{}"), Raw(b"[]")])
conversations = st.builds(
    Conversation,
    instructions=st.lists(texts, max_size=2).map(tuple),
    turns=st.lists(turns, max_size=5).map(tuple),
    tools=st.lists(
        st.builds(Tool, name=names, schema=schemas, strict=st.none() | st.booleans(), cache=caches),
        max_size=2,
    ).map(tuple),
    tool_choice=st.none()
    | st.builds(ToolChoice, st.sampled_from(["auto", "none", "required"]))
    | st.builds(ToolChoice, st.just("only"), st.lists(names, min_size=1, max_size=2).map(tuple)),
    sampling=st.builds(
        Sampling,
        max_tokens=st.none() | st.integers(1, 10**5),
        temperature=st.none() | st.floats(0, 2),
        top_p=st.none() | st.floats(0, 1),
        top_k=st.none() | st.integers(0, 500),
        stop=st.lists(words, max_size=2).map(tuple),
    ),
    thinking=st.none()
    | st.builds(
        Thinking,
        enabled=st.none() | st.booleans(),
        effort=st.none() | st.sampled_from(["none", "low", "max"]),
        budget=st.none() | st.integers(-1, 10**5),
    ),
    output=st.none() | st.builds(Output, schema=schemas),
    stream=st.booleans(),
)
models = st.sampled_from(
    [
        "anthropic.claude-3-haiku-20240307-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-opus-5",
        "us.amazon.nova-2-lite-v1:0",
        "openai.gpt-oss-120b-1:0",
        "meta.llama3-2-1b-instruct-v1:0",
    ]
)


def written(conversation: Conversation, model: str) -> dict[str, Any] | None:
    try:
        raw = VENDOR.write_request(conversation, Target(BEDROCK, Model(model)), Losses())
    except BadRequest:
        return None
    body: dict[str, Any] = msgspec.json.decode(raw)
    return body


@given(conversation=conversations, model=models)
def test_the_vendors_library_accepts_every_request(
    check: Any, conversation: Conversation, model: str
) -> None:
    body = written(conversation, model)

    if body is not None:
        check(body)


@given(conversations, models)
def test_messages_alternate_and_results_answer_the_calls_before_them(
    conversation: Conversation, model: str
) -> None:
    body = written(conversation, model)
    if body is None:
        return

    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    called: list[str] = []
    for message in messages:
        uses = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]
        results = [b["toolResult"]["toolUseId"] for b in message["content"] if "toolResult" in b]
        assert results == called
        called = uses if message["role"] == "assistant" else []
    assert not called


@given(conversations, models)
def test_no_text_is_blank_and_cache_points_are_few(conversation: Conversation, model: str) -> None:
    body = written(conversation, model)
    if body is None:
        return

    blocks = [block for message in body["messages"] for block in message["content"]]
    blocks += body.get("system", []) + body.get("toolConfig", {}).get("tools", [])
    assert all(block["text"].strip() for block in blocks if "text" in block)
    assert sum("cachePoint" in block for block in blocks) <= 4
    assert all("cachePoint" not in message["content"][0] for message in body["messages"])


@given(st.binary(max_size=80))
def test_nothing_the_vendor_sends_makes_the_reader_raise(stream: bytes) -> None:
    reader = VENDOR.stream_reader()

    events = [*reader.feed(stream), *reader.close()]

    assert isinstance(events[-1], ReplyFailed)
