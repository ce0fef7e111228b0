"""A law of requests: whatever is asked, the vendor gets what it takes."""

import json
import re
from itertools import pairwise
from typing import Any

from claude_strategies import QUICK, VENDOR, ids, jsons, raw, target, words
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    AnyPart,
    BadRequest,
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Output,
    Reasoning,
    Refusal,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

caches = st.sampled_from([None, None, None, "5m"])


any_texts = st.builds(
    Text,
    text=st.text(max_size=5),
    cache=st.sampled_from([None, "5m", "1h"]),
    signature=st.none() | st.just("s"),
    citations=st.lists(st.builds(Citation, url=st.none() | words), max_size=1).map(tuple),
)
any_media = st.builds(
    Media,
    kind=st.sampled_from(["image", "audio", "video", "document"]),
    media_type=st.sampled_from([None, "image/png", "image/heic", "application/pdf", "text/plain"]),
    data=st.sampled_from([None, "QUJD", "???"]),
    url=st.sampled_from([None, "https://a", "data:image/png;base64,QUJD", "data:,x", "gs://x"]),
    file_id=st.none() | st.just("f"),
    text=st.sampled_from([None, "", "words"]),
    cache=caches,
)
any_ids = st.sampled_from(["a", "b", "c.d", "", "ü"])
any_parts: st.SearchStrategy[AnyPart] = st.one_of(
    any_texts,
    any_media,
    st.builds(Refusal, text=st.text(max_size=3)),
    st.builds(
        Reasoning,
        text=st.text(max_size=3),
        signature=st.sampled_from([None, "s"]),
        sealed=st.sampled_from([None, "x"]),
        origin=st.sampled_from(["", "anthropic", "~claude", "gemini"]),
        cache=caches,
    ),
    st.builds(
        ToolCall,
        id=any_ids,
        name=ids,
        arguments=st.sampled_from(["", "{}", '{"a":1}', "[]", "junk", '{"a":']),
        custom=st.booleans(),
    ),
    st.builds(
        ToolResult,
        call_id=any_ids,
        content=st.lists(any_texts | any_media, max_size=2).map(tuple),
        failed=st.booleans(),
        cache=caches,
    ),
    st.builds(Foreign, dialect=st.just("gemini"), type=words, raw=st.just(Raw(b"{}"))),
)
any_conversations = st.builds(
    Conversation,
    instructions=st.lists(any_texts, max_size=2).map(tuple),
    turns=st.lists(
        st.builds(
            Turn,
            role=st.sampled_from(["user", "assistant", "system"]),
            parts=st.lists(any_parts, max_size=4).map(tuple),
        ),
        max_size=6,
    ).map(tuple),
    tools=st.lists(
        st.builds(
            Tool, name=ids, schema=st.none() | jsons.map(raw), strict=st.none() | st.booleans()
        ),
        max_size=2,
    ).map(tuple),
    tool_choice=st.none()
    | st.builds(
        ToolChoice,
        mode=st.sampled_from(["auto", "none", "required", "only"]),
        names=st.lists(ids, min_size=1, max_size=2).map(tuple),
    ),
    parallel_tools=st.none() | st.booleans(),
    sampling=st.builds(
        Sampling,
        max_tokens=st.none() | st.integers(1, 99999),
        temperature=st.none() | st.floats(0, 2),
        top_p=st.none() | st.floats(0, 1),
        top_k=st.none() | st.integers(1, 99),
        stop=st.lists(st.text(max_size=2), max_size=2).map(tuple),
    ),
    thinking=st.none()
    | st.builds(
        Thinking,
        enabled=st.none() | st.booleans(),
        effort=st.none() | st.sampled_from(["none", "minimal", "low", "xhigh", "odd"]),
        budget=st.none() | st.integers(-1, 99999),
        show=st.none() | st.booleans(),
    ),
    output=st.none() | st.builds(Output, schema=st.none() | jsons.map(raw)),
    dialect=st.sampled_from(["openai", "gemini"]),
)
models = st.sampled_from(
    [
        "claude-3-haiku",
        "claude-sonnet-4-5",
        "claude-opus-4-6",
        "claude-opus-4-8",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "kimi-k2",
    ]
)


def check_turns(messages: list[dict[str, Any]], *, ends: bool = True) -> None:
    """The vendor's rules for turns, told by their negatives."""
    assert messages[0]["role"] == "user"
    pairs = list(pairwise(messages))
    assert all(a["role"] != b["role"] for a, b in pairs)
    seen: set[str] = set()
    for message, after in [*pairs, (messages[-1], None)]:
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        assert blocks
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(re.fullmatch("[a-zA-Z0-9_-]+", one) for one in calls)
        assert len({*calls}) == len(calls)
        assert not seen & {*calls}
        seen |= {*calls}
        if calls:
            assert message["role"] == "assistant"
            assert after is not None
            head = after["content"][: len(calls)]
            assert sorted(block["tool_use_id"] for block in head) == sorted(calls)
            assert all(b["type"] != "tool_result" for b in after["content"][len(calls) :])
        for block in blocks:
            check_block(block, message["role"])
    if ends:
        assert messages[-1]["role"] != "assistant"


def check_block(block: dict[str, Any], role: str) -> None:
    if block["type"] == "text":
        assert block["text"].strip()
    if block["type"] in ("image", "document", "tool_result"):
        assert role == "user"
    if block["type"] == "tool_use":
        assert isinstance(block["input"], dict)
    if block["type"] == "tool_result":
        assert block.get("content") or not block.get("is_error")


def breakpoints(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(breakpoints, value))
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(breakpoints, value.values()))
    return 0


@QUICK
@given(any_conversations, models)
def test_whatever_is_asked_the_vendor_gets_a_request_it_takes(
    conversation: Conversation, model: str
) -> None:
    losses = Losses()
    try:
        written = json.loads(VENDOR.write_request(conversation, target(model), losses))
    except BadRequest:
        return  # nothing was left to say

    check_turns(written["messages"])
    assert written["max_tokens"] >= 1
    thinking = written.get("thinking", {})
    if "budget_tokens" in thinking:
        assert 1024 <= thinking["budget_tokens"] < written["max_tokens"]
        assert written.get("temperature", 1) == 1
        assert written.get("tool_choice", {}).get("type") not in ("any", "tool")
    assert written.get("tools") != []
    assert "tools" in written or "tool_choice" not in written
    assert breakpoints(written) <= 4
    assert 0 <= written.get("temperature", 1) <= 1
    assert all(len(name) < 60 for name in losses.names)
