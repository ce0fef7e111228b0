"""Laws of round trips: what was written is read as it was."""

import json

from claude_strategies import CLIENT, QUICK, VENDOR, call_of, ids, jsons, raw, target, words
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Choice,
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Output,
    Reasoning,
    Refusal,
    Reply,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    Usage,
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
    produced = draw(st.lists(st.one_of(own_texts, cited, own_thinking, own_foreign), max_size=3))
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
    if not produced and not calls:
        produced = [draw(own_texts)]
    return Turn("assistant", (*produced, *calls)), Turn("user", (*results, *rest))


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
SUMMARIES = {"summarized": "auto", "omitted": None}
wishes = st.one_of(
    st.none(),
    st.just(Thinking(enabled=False)),
    st.builds(Thinking, effort=st.sampled_from(["low", "high"])),
    st.builds(
        lambda budget, shown: Thinking(
            enabled=True, budget=budget, show=shown != "omitted", summary=shown and SUMMARIES[shown]
        ),
        budget=st.integers(1024, 5000),
        shown=st.sampled_from([None, "summarized", "omitted"]),
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

    # What is kept elsewhere is told a second time, by name.
    assert replace(CLIENT.read_request(call_of(body)), elsewhere=()) == conversation
    assert not losses


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
