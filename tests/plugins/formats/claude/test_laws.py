"""Laws that hold for whatever is said: round trips, order, and no surprise."""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
from gateway_format_claude import CLAUDE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    Choice,
    Citation,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    Output,
    ProviderSpec,
    Reasoning,
    Refusal,
    Reply,
    Sampling,
    Target,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    UpstreamError,
    Usage,
)

assert CLAUDE.client is not None
assert CLAUDE.vendor is not None
CLIENT, VENDOR = CLAUDE.client, CLAUDE.vendor

QUICK = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def target(model: str = "claude-sonnet-4-0", **options: Any) -> Target:
    provider = ProviderSpec(id="anthropic", name="A", format="claude", options=options)
    return Target(provider, Model(model))


def call_of(body: bytes) -> Call:
    members = msgspec.json.decode(body, type=dict[str, Raw])
    return Call(kind=Kind.LLM, format="claude", model="", stream=False, body=body, members=members)


def raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip)
ids = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
caches = st.sampled_from([None, None, None, "5m"])
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, jsons, max_size=3)
extras = st.dictionaries(st.sampled_from(["zeta", "eta"]), objects.map(raw), max_size=1)
own_texts = st.builds(Text, text=words, extra=extras)
own_citations = st.builds(
    lambda quote: Citation(
        quote=quote,
        document=0,
        raw=raw({"type": "char_location", "cited_text": quote, "document_index": 0}),
        dialect="claude",
    ),
    words,
)
cited = st.builds(Text, text=words, citations=st.lists(own_citations, max_size=2).map(tuple))
own_media = st.one_of(
    st.builds(Media, kind=st.just("image"), url=st.just("https://a/b"), extra=extras),
    st.builds(
        Media,
        kind=st.just("image"),
        media_type=st.just("image/png"),
        data=st.just("iVBORw0KGgo="),
    ),
    st.builds(
        Media,
        kind=st.just("document"),
        media_type=st.just("text/plain"),
        text=words,
        name=st.none() | words,
    ),
    st.builds(
        Media, kind=st.just("document"), file_id=ids, origin=st.just("~claude"), name=st.none()
    ),
)
own_thinking = st.one_of(
    st.builds(Reasoning, text=words, signature=words, origin=st.just("~claude")),
    st.builds(Reasoning, sealed=words, origin=st.just("~claude")),
)
own_foreign = st.builds(
    lambda kind, rest: Foreign(
        dialect="claude", type=kind, raw=raw({**rest, "type": kind, "id": "x"})
    ),
    st.sampled_from(["server_tool_use", "web_search_tool_result", "block_of_next_year"]),
    objects,
)


@st.composite
def own_rounds(draw: st.DrawFn, number: int) -> tuple[Turn, Turn]:
    """An assistant's turn with calls, and the user's turn that answers each."""
    said = draw(st.lists(st.one_of(own_texts, cited, own_thinking, own_foreign), max_size=3))
    names = [f"call_{number}_{index}" for index in range(draw(st.integers(0, 2)))]
    calls = [
        ToolCall(id=n, name=draw(ids), arguments=json.dumps(draw(objects)), extra=draw(extras))
        for n in names
    ]
    results = [
        ToolResult(
            call_id=name,
            content=tuple(draw(st.lists(own_texts | own_media, min_size=1, max_size=2))),
            failed=draw(st.booleans()),
            extra=draw(extras),
        )
        for name in names
    ]
    rest = draw(st.lists(own_texts | own_media, min_size=0 if results else 1, max_size=2))
    if not said and not calls:
        said = [draw(own_texts)]
    return Turn("assistant", (*said, *calls)), Turn("user", (*results, *rest))


own_tools = st.one_of(
    st.builds(
        Tool,
        name=ids,
        description=st.none() | words,
        schema=objects.map(lambda more: raw({**more, "type": "object"})),
        strict=st.sampled_from([None, True, False]),
        extra=extras,
    ),
    st.builds(
        lambda name, rest: Tool(
            name=name,
            hosted="web_search",
            raw=raw({**rest, "type": "web_search_20250305", "name": name}),
            dialect="claude",
        ),
        ids,
        objects,
    ),
)
wishes = st.one_of(
    st.none(),
    st.just(Thinking(enabled=False)),
    st.builds(Thinking, effort=st.sampled_from(["low", "high"])),
    st.builds(
        Thinking,
        enabled=st.just(True),
        budget=st.integers(1024, 5000),
        show=st.sampled_from([None, True, False]),
    ),
)


@st.composite
def own_conversations(draw: st.DrawFn) -> Conversation:
    """A conversation as this dialect's clients can say it, in its usual spelling."""
    first = Turn("user", tuple(draw(st.lists(own_texts | own_media, min_size=1, max_size=2))))
    rounds = [draw(own_rounds(number)) for number in range(draw(st.integers(0, 3)))]
    tools = tuple(draw(st.lists(own_tools, max_size=2)))
    wish = draw(wishes)
    free = wish is None or wish.enabled is not True
    choices = [None, ToolChoice("auto")]
    if free:
        choices += [ToolChoice("required"), ToolChoice("only", ("x",))]
    choice = draw(st.sampled_from(choices)) if tools else None
    if (
        wish is not None
        and wish.budget is not None
        and any(t.parts for pair in rounds for t in pair)
    ):
        wish = None  # a tool loop must have kept its thinking: see test_thinking.py
    return Conversation(
        instructions=tuple(draw(st.lists(own_texts, max_size=2))),
        turns=(first, *(turn for pair in rounds for turn in pair)),
        tools=tools,
        tool_choice=choice,
        parallel_tools=draw(st.sampled_from([None, False])) if choice else None,
        sampling=Sampling(
            max_tokens=draw(st.integers(6000, 9000)),
            temperature=draw(st.sampled_from([None, 0.5])) if free else None,
            top_k=draw(st.sampled_from([None, 3])) if free else None,
            stop=tuple(draw(st.lists(words, max_size=2))),
        ),
        thinking=wish,
        output=draw(st.none() | st.builds(Output, schema=objects.map(raw))),
        user=draw(st.none() | words),
        service_tier=draw(st.sampled_from([None, "auto", "default"])),
        stream=draw(st.booleans()),
        model="claude-sonnet-4-0",
        dialect="claude",
        extra=draw(extras),
    )


@QUICK
@given(own_conversations())
def test_reading_what_was_written_changes_nothing(conversation: Conversation) -> None:
    losses = Losses()

    body = VENDOR.write_request(conversation, target(), losses)

    assert CLIENT.read_request(call_of(body)) == conversation
    assert not losses


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
        said = json.loads(VENDOR.write_request(conversation, target(model), losses))
    except BadRequest:
        return  # nothing was left to say

    check_turns(said["messages"])
    assert said["max_tokens"] >= 1
    thinking = said.get("thinking", {})
    if "budget_tokens" in thinking:
        assert 1024 <= thinking["budget_tokens"] < said["max_tokens"]
        assert said.get("temperature", 1) == 1
        assert said.get("tool_choice", {}).get("type") not in ("any", "tool")
    assert said.get("tools") != []
    assert "tools" in said or "tool_choice" not in said
    assert breakpoints(said) <= 4
    assert 0 <= said.get("temperature", 1) <= 1
    assert all(len(name) < 60 for name in losses.names)


own_parts: st.SearchStrategy[AnyPart] = st.one_of(
    cited,
    st.builds(Reasoning, text=words),
    st.builds(Refusal, text=words).map(lambda part: Text(text=part.text)),
    st.builds(ToolCall, id=ids, name=ids, arguments=objects.map(json.dumps)),
    own_foreign,
)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    cached, written, fresh = (draw(st.integers(0, 99)) for _ in range(3))
    output = draw(st.integers(0, 99))
    return Usage(
        input_tokens=fresh + cached + written,
        output_tokens=output,
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=draw(st.integers(0, output)),
    )


@st.composite
def own_replies(draw: st.DrawFn) -> Reply:
    parts = tuple(draw(st.lists(own_parts, max_size=4)))
    calls = any(isinstance(part, ToolCall) for part in parts)
    finishes = ["length", "pause", "refusal", "tool_calls" if calls else "stop"]
    finish = draw(st.sampled_from(finishes))
    stopped = draw(st.none() | words) if finish == "stop" else None
    choice = Choice(parts=parts, finish=finish, stop_sequence=stopped)  # type: ignore[arg-type]
    return Reply(
        id=f"msg_{draw(ids)}",
        model=draw(words),
        choices=(choice,),
        usage=draw(usages()),
        dialect="claude",
        extra=draw(extras),
    )


@QUICK
@given(own_replies())
def test_reading_a_reply_that_was_written_changes_nothing(reply: Reply) -> None:
    losses = Losses()

    body = CLIENT.write_reply(reply, Conversation(), losses)

    assert VENDOR.read_reply(body) == reply
    assert not losses


@QUICK
@given(st.recursive(jsons, lambda inner: st.lists(inner, max_size=2), max_leaves=3), st.data())
def test_no_body_surprises_the_reader_of_requests(value: Any, data: st.DataObject) -> None:
    body = json.loads(json.dumps(EXAMPLE))
    holder, key = data.draw(st.sampled_from(list(places(body))))
    holder[key] = value

    complaint = complaint_about(msgspec.json.encode(body))

    assert complaint is None or re.match(r"[a-z_]+[.:]", complaint)


def complaint_about(body: bytes) -> str | None:
    try:
        conversation = CLIENT.read_request(call_of(body))
        VENDOR.write_request(conversation, target(), Losses())
    except BadRequest as refusal:
        return refusal.message
    return None


def places(value: Any) -> Any:
    """Every holder and key in a JSON value."""
    found = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(found):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


EXAMPLE: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
                {"type": "image", "source": {"type": "base64", "media_type": "i", "data": "x"}},
                {"type": "document", "source": {"type": "content", "content": "x"}, "title": "t"},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [{"type": "text", "text": "x"}],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "x", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
                {"type": "server_tool_use", "id": "s"},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "is_error": True,
                    "content": [{"type": "text", "text": "x"}, {"type": "tool_reference"}],
                }
            ],
        },
        {"role": "system", "content": "s"},
    ],
    "tools": [{"name": "n", "input_schema": {"type": "object"}}, {"type": "web_search_1"}],
    "tool_choice": {"type": "tool", "name": "n", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    "metadata": {"user_id": "u"},
    "stop_sequences": ["x"],
    "service_tier": "auto",
}


def test_the_example_is_taken() -> None:
    assert CLIENT.read_request(call_of(msgspec.json.encode(EXAMPLE))).turns


ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "model": "m",
    "content": [
        {"type": "text", "text": "a", "citations": [{"type": "char_location"}]},
        {"type": "thinking", "thinking": "x", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}},
        {"type": "server_tool_use", "id": "s"},
    ],
    "stop_reason": "refusal",
    "stop_details": {"type": "refusal", "explanation": "x"},
    "usage": {"input_tokens": 1, "output_tokens": 2, "output_tokens_details": {}},
}


@QUICK
@given(jsons, st.data())
def test_no_answer_surprises_the_reader_of_replies(value: Any, data: st.DataObject) -> None:
    body = json.loads(json.dumps(ANSWER))
    holder, key = data.draw(st.sampled_from(list(places(body))))
    holder[key] = value

    try:
        reply = VENDOR.read_reply(msgspec.json.encode(body))
    except UpstreamError:
        return

    json.loads(CLIENT.write_reply(reply, Conversation(), Losses()))


@QUICK
@given(st.integers(300, 599), st.dictionaries(words, words, max_size=2), jsons)
def test_no_error_surprises_the_reader_of_errors(
    status: int, headers: dict[str, str], value: Any
) -> None:
    body: Callable[[Any], bytes] = msgspec.json.encode
    for said in (value, {"error": value}, {"error": {"message": value, "type": value}}):
        error = VENDOR.read_error(status, headers, body(said))

        assert error.message
        assert "\n" not in error.message
