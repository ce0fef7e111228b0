"""Laws of requests: reading what was written changes nothing, and nothing is malformed."""

import json
from typing import Any

import msgspec
from gateway_format_openai_responses import ResponsesClient, ResponsesVendor
from gateway_format_openai_responses._dialect import DIALECT
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    BadRequest,
    Call,
    Citation,
    Conversation,
    Foreign,
    Kind,
    Losses,
    Media,
    Model,
    Output,
    PartUnsupported,
    ProviderSpec,
    Reasoning,
    Refusal,
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

CLIENT, VENDOR = ResponsesClient(), ResponsesVendor()
SPEC = ProviderSpec(id="acme", name="Acme", format="openai-responses")
TARGET = Target(SPEC, Model("m", reasoning=False))

QUICK = settings(max_examples=100)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some = words.filter(bool)
names = st.text("abcdefgh_-0123", min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, json_values, max_size=3)
raw_objects = objects.map(lambda value: Raw(msgspec.json.encode(value)))
extras = st.dictionaries(names.map(lambda name: f"x_{name}"), raw_objects, max_size=2)
arguments = objects.map(lambda value: msgspec.json.encode(value).decode())
call_ids = names.map(lambda name: f"call-{name}")
citations = st.builds(
    lambda url, title, start, end: annotated(url, title, start, end),
    some,
    words,
    st.integers(0, 50),
    st.integers(0, 50),
)


def annotated(url: str, title: str, start: int, end: int) -> Citation:
    """A source as this dialect tells it."""
    written = {
        "type": "url_citation",
        "url": url,
        "title": title,
        "start_index": start,
        "end_index": end,
    }
    return Citation(
        url=url,
        title=title or None,
        start=start,
        end=end,
        raw=Raw(msgspec.json.encode(written)),
        dialect=DIALECT,
    )


caches = st.none() | st.sampled_from(["5m", "1h"])
heard_texts = st.builds(Text, text=words, cache=caches, extra=extras)
media = st.one_of(
    st.builds(
        Media,
        kind=st.just("image"),
        data=some.map(lambda text: text.encode().hex()),
        media_type=st.sampled_from(["image/png", "image/jpeg"]),
        detail=st.none() | st.sampled_from(["low", "high"]),
        cache=caches,
        extra=extras,
    ),
    names.map(lambda name: Media(kind="image", url=f"https://a.example/{name}")),
    names.map(lambda name: Media(kind="document", file_id=name, origin=f"~{DIALECT}")),
    st.builds(
        Media,
        kind=st.just("document"),
        data=some.map(lambda text: text.encode().hex()),
        media_type=st.just("application/pdf"),
        name=st.none() | names,
    ),
    names.map(lambda name: Media(kind="document", url=f"https://a.example/{name}")),
    names.map(lambda name: Media(kind="audio", data=name, media_type="audio/mpeg")),
)
heard = st.lists(st.one_of(heard_texts, media), min_size=1, max_size=3).map(tuple)
spoken_texts = st.builds(
    Text, text=words, citations=st.lists(citations, max_size=2).map(tuple), extra=extras
)
refusals = st.builds(Refusal, text=words)
phases = st.sampled_from(["commentary", "final_answer"]).map(
    lambda phase: {"phase": Raw(msgspec.json.encode(phase))}
)
phased = st.builds(Text, text=words, extra=phases)
thoughts = st.one_of(
    st.builds(
        Reasoning,
        text=some,
        summary=st.booleans(),
        sealed=names,
        origin=st.just(f"~{DIALECT}"),
    ),
    names.map(lambda name: Reasoning(sealed=name, origin=f"~{DIALECT}")),
)
calls = st.one_of(
    st.builds(ToolCall, id=call_ids, name=names, arguments=arguments, extra=extras),
    st.builds(ToolCall, id=call_ids, name=names, arguments=words, custom=st.just(True)),
)
pieces = st.one_of(spoken_texts, refusals, phased, thoughts, calls)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Turns in this dialect's normal form: an answer of the model's, then its results."""
    turns: list[Turn] = []
    for _ in range(draw(st.integers(1, 3))):
        kind: Any = draw(st.sampled_from(["user", "system", "assistant"]))
        if kind != "assistant":
            if kind == "system" and not turns:
                continue  # Before the first turn it would be an instruction.
            turns.append(Turn(kind, draw(heard), extra=draw(extras)))
            continue
        if turns and turns[-1].role == "assistant":
            continue
        parts = draw(st.lists(pieces, min_size=1, max_size=4))
        turns.append(Turn("assistant", tuple(parts)))
        received = {p.id: p for p in parts if isinstance(p, ToolCall)}
        results = [
            ToolResult(
                call_id=call.id,
                content=draw(st.lists(heard_texts, min_size=1, max_size=2).map(tuple)),
                custom=call.custom,
            )
            for call in received.values()
        ]
        if results:
            turns.append(Turn("user", tuple(results)))
    return tuple(turns) or (Turn("user", (Text(text="q"),)),)


def steady(turns: tuple[Turn, ...]) -> bool:
    """Calls of one id are of one kind: results are told apart by it."""
    kinds: dict[str, set[bool]] = {}
    for turn in turns:
        for part in turn.parts:
            if isinstance(part, ToolCall):
                kinds.setdefault(part.id, set()).add(part.custom)
    return all(len(found) == 1 for found in kinds.values())


functions = st.builds(
    Tool,
    name=names,
    description=st.none() | words,
    schema=st.none() | raw_objects,
    strict=st.none() | st.booleans(),
    extra=extras,
)
samplings = st.builds(
    Sampling,
    max_tokens=st.none() | st.integers(1, 10**6),
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1),
    presence_penalty=st.none() | st.floats(-2, 2),
    frequency_penalty=st.none() | st.floats(-2, 2),
    logprobs=st.none() | st.just(True),
    top_logprobs=st.none() | st.integers(0, 20),
)
efforts = st.sampled_from(["minimal", "low", "medium", "high", "xhigh", "max"])
thinkings = st.one_of(
    st.none(),
    st.just(Thinking()),
    st.just(Thinking(enabled=False, effort="none")),
    efforts.map(lambda effort: Thinking(enabled=True, effort=effort)),
    efforts.map(lambda e: Thinking(enabled=True, effort=e, summary="auto", show=True)),
    st.just(Thinking(summary="detailed", show=True)),
)
outputs = st.one_of(
    st.none(),
    st.just(Output()),
    st.builds(
        Output,
        schema=raw_objects,
        name=names,
        description=st.none() | words,
        strict=st.none() | st.booleans(),
    ),
)
conversations = st.builds(
    Conversation,
    instructions=st.lists(some.map(lambda text: Text(text=text)), max_size=3).map(tuple),
    turns=histories().filter(steady),
    tools=st.lists(functions, max_size=3, unique_by=lambda tool: tool.name).map(tuple),
    parallel_tools=st.none() | st.booleans(),
    sampling=samplings,
    thinking=thinkings,
    output=outputs,
    user=st.none() | names,
    cache_key=st.none() | names,
    service_tier=st.none() | st.just("flex"),
    stream=st.booleans(),
    model=st.just("m"),
    dialect=st.just(DIALECT),
    extra=extras,
)


@QUICK
@given(conversations, st.sampled_from(["auto", "none", "required", "only"]))
def test_a_request_that_was_written_is_read_the_same(received: Conversation, mode: Any) -> None:
    if received.tools:
        chosen = (received.tools[0].name,) if mode == "only" else ()
        received = replace(received, tool_choice=ToolChoice(mode, chosen))
    losses = Losses()

    body = VENDOR.write_request(received, TARGET, losses)
    again = CLIENT.read_request(call(body, stream=received.stream))

    # What is kept elsewhere is told a second time, by name.
    assert replace(again, elsewhere=()) == received
    assert not losses


def call(body: bytes, *, stream: bool = False) -> Call:
    return Call(kind=Kind.LLM, format=DIALECT, model="m", stream=stream, body=body)


foreign_pieces = st.one_of(
    st.builds(Text, text=words, signature=st.none() | names, origin=names),
    st.builds(Reasoning, text=words, sealed=st.none() | names, origin=names),
    st.builds(Refusal, text=words),
    st.builds(ToolCall, id=words, name=names, arguments=words, custom=st.booleans()),
    st.builds(ToolResult, call_id=words, content=st.lists(heard_texts, max_size=2).map(tuple)),
    media,
    names.map(lambda name: Foreign(dialect="other", type=name, raw=Raw(b"{}"))),
)
foreign_conversations = st.builds(
    Conversation,
    instructions=st.lists(words.map(lambda text: Text(text=text)), max_size=2).map(tuple),
    turns=st.lists(
        st.builds(
            Turn,
            st.sampled_from(["user", "assistant", "system"]),
            st.lists(foreign_pieces, max_size=4).map(tuple),
        ),
        max_size=4,
    ).map(tuple),
    tools=st.lists(
        functions | st.just(Tool(name="x", hosted="computer", raw=Raw(b"{}"), dialect="other")),
        max_size=2,
    ).map(tuple),
    tool_choice=st.none()
    | st.sampled_from([ToolChoice("auto"), ToolChoice("required"), ToolChoice("only", ("x",))]),
    sampling=st.builds(Sampling, max_tokens=st.none() | st.integers(1, 50), top_k=st.just(3)),
    output=outputs,
    dialect=st.just("other"),
)


@QUICK
@given(foreign_conversations)
def test_whatever_another_dialect_asks_becomes_a_sound_request(received: Conversation) -> None:
    losses = Losses()
    try:
        body = VENDOR.write_request(received, TARGET, losses)
    except PartUnsupported:
        parts = [part for turn in received.turns for part in turn.parts]
        results = [piece for p in parts if isinstance(p, ToolResult) for piece in p.content]
        assert any(isinstance(part, Media | Foreign) for part in (*parts, *results))
        return
    except BadRequest:
        written = [p for turn in received.turns for p in turn.parts if getattr(p, "text", None)]
        assert not [part for part in written if isinstance(part, Text | Refusal)]
        return

    request = json.loads(body)
    CLIENT.read_request(call(body))
    calls = [i["call_id"] for i in request["input"] if i["type"].endswith("_call")]
    results = [i["call_id"] for i in request["input"] if i["type"].endswith("_output")]
    assert set(calls) == set(results)
    assert all(0 < len(name) <= 64 for name in calls)
    assert all(item.get("content", "x") for item in request["input"])
    assert request.get("tools", ["x"]) != []
    assert "tool_choice" not in request or "tools" in request
    assert request.get("max_output_tokens", 16) >= 16
    assert "top_k" in losses.names


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("input", "type", "role", "content", "text", "tools", "name", "call_id"),
                    *("output", "summary", "encrypted_content", "tool_choice", "format", "id"),
                    *("reasoning", "include", "arguments", "parameters", "instructions", "mode"),
                ]
            ),
            inner
            | st.sampled_from(
                [
                    *("message", "user", "assistant", "function", "function_call", "reasoning"),
                    *("input_text", "input_image", "namespace", "allowed_tools", "compaction"),
                ]
            ),
            max_size=4,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=300)
@given(anything)
def test_any_json_is_read_or_refused(body: Any) -> None:
    try:
        conversation = CLIENT.read_request(call(msgspec.json.encode(body)))
    except BadRequest as refusal:
        assert refusal.message  # noqa: PT017 - either outcome is right, nothing else is
        return
    assert conversation.turns or conversation.extra or conversation.instructions
