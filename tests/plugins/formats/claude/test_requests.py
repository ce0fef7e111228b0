"""What a client of this format may send, and what the hub makes of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import (
    BadRequest,
    Call,
    Citation,
    ClientSide,
    Conversation,
    Foreign,
    Kind,
    Media,
    Output,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
    seal,
    seal_id,
)

Ask = Callable[..., Conversation]
Said = Callable[..., Call]


def user(*blocks: Any) -> list[Any]:
    return [{"role": "user", "content": list(blocks)}]


def answered(*blocks: Any) -> list[Any]:
    """A question and the assistant's turn."""
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": list(blocks)}]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def loaded(members: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(bytes(value)) for name, value in members.items()}


def test_system_text_is_instructions_in_either_shape(ask: Ask) -> None:
    blocks = [text("a", cache_control={"type": "ephemeral", "ttl": "1h"}), text("b")]

    assert ask(system="a").instructions == (Text(text="a"),)
    assert ask(system=blocks).instructions == (Text(text="a", cache="1h"), Text(text="b"))
    assert ask(system="").instructions == ()


def test_content_may_be_a_string_or_blocks(ask: Ask) -> None:
    assert ask().turns == (Turn("user", (Text(text="hi"),)),)
    assert ask(messages=user(text("hi"))).turns == ask().turns


def test_members_of_the_request_have_their_places(ask: Ask) -> None:
    conversation = ask(
        model="claude-x",
        max_tokens=7,
        temperature=0.5,
        top_p=0.25,
        top_k=3,
        stop_sequences=["a", "b"],
        metadata={"user_id": "u"},
        service_tier="standard_only",
        stream=True,
    )

    sampling = conversation.sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p) == (7, 0.5, 0.25)
    assert (sampling.top_k, sampling.stop) == (3, ("a", "b"))
    assert (conversation.user, conversation.service_tier) == ("u", "default")
    assert (conversation.stream, conversation.model, conversation.dialect) == (
        True,
        "claude-x",
        "claude",
    )
    assert conversation.extra == {}


def test_members_without_a_neutral_name_are_kept(ask: Ask) -> None:
    conversation = ask(
        container="c1",
        mcp_servers=[{"type": "url"}],
        context_management={"edits": []},
        betas=["x"],
        speed=None,
        _private=1,
        metadata={"user_id": "u", "team": 4},
        messages=[{"role": "user", "content": [text("hi", mood="good")], "clear_at": 1}],
    )

    assert loaded(dict(conversation.extra)) == {
        "container": "c1",
        "mcp_servers": [{"type": "url"}],
        "context_management": {"edits": []},
        "betas": ["x"],
        "metadata": {"team": 4},
    }
    (turn,) = conversation.turns
    assert loaded(dict(turn.extra)) == {"clear_at": 1}
    assert loaded(dict(turn.parts[0].extra)) == {"mood": "good"}


IMAGES = [
    (
        {"type": "base64", "media_type": "image/png", "data": "QUJD"},
        Media(kind="image", media_type="image/png", data="QUJD"),
    ),
    ({"type": "url", "url": "https://a/b"}, Media(kind="image", url="https://a/b")),
    (
        {"type": "file", "file_id": "f1"},
        Media(kind="image", file_id="f1", origin="~claude"),
    ),
]


@pytest.mark.parametrize(("source", "media"), IMAGES, ids=["inline", "url", "file"])
def test_images(ask: Ask, source: Any, media: Media) -> None:
    assert ask(messages=user({"type": "image", "source": source})).turns[0].parts == (media,)


DOCUMENTS = [
    (
        {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
        Media(kind="document", media_type="application/pdf", data="QUJD", name="t"),
    ),
    (
        {"type": "text", "media_type": "text/plain", "data": "words"},
        Media(kind="document", media_type="text/plain", text="words", name="t"),
    ),
    ({"type": "url", "url": "https://a/b"}, Media(kind="document", url="https://a/b", name="t")),
    (
        {"type": "file", "file_id": "f1"},
        Media(kind="document", file_id="f1", origin="~claude", name="t"),
    ),
]


@pytest.mark.parametrize(("source", "media"), DOCUMENTS, ids=["inline", "text", "url", "file"])
def test_documents(ask: Ask, source: Any, media: Media) -> None:
    block = {"type": "document", "source": source, "title": "t"}

    assert ask(messages=user(block)).turns[0].parts == (media,)


def test_a_document_of_blocks_keeps_its_text_for_others_and_its_blocks_for_its_own(
    ask: Ask,
) -> None:
    source = {"type": "content", "content": [text("one"), text("two")]}

    (part,) = (
        ask(
            messages=user(
                {
                    "type": "document",
                    "source": source,
                    "citations": {"enabled": True},
                    "context": "c",
                }
            )
        )
        .turns[0]
        .parts
    )

    assert isinstance(part, Media)
    assert part.text == "one\n\ntwo"
    assert loaded(dict(part.extra)) == {
        "source": source,
        "citations": {"enabled": True},
        "context": "c",
    }


def test_a_search_result_is_a_text_document_to_others(ask: Ask) -> None:
    block = {"type": "search_result", "source": "s", "title": "t", "content": [text("found")]}

    (part,) = ask(messages=user(block)).turns[0].parts

    assert isinstance(part, Media)
    assert (part.kind, part.text, part.name) == ("document", "found", "t")
    assert loaded(dict(part.extra)) == {"search_result": block}


def test_thinking_that_the_client_brings_is_its_dialects_own(ask: Ask) -> None:
    turns = ask(
        messages=answered(
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "thinking", "thinking": "no proof", "signature": ""},
            {"type": "redacted_thinking", "data": "xyz"},
        )
    ).turns

    assert turns[1].parts == (
        Reasoning(text="hm", signature="sig", origin="~claude"),
        Reasoning(text="no proof"),
        Reasoning(sealed="xyz", origin="~claude"),
    )


def test_sealed_thinking_is_opened_again(ask: Ask) -> None:
    packed = Reasoning(sealed="enc", id="rs_1", summary=True, origin="gpt")
    turns = ask(
        messages=answered(
            {"type": "thinking", "thinking": "hm", "signature": seal("gemini", "s:1")},
            {
                "type": "thinking",
                "thinking": "short",
                "signature": seal_id("", "gpt", None, (packed,)),
            },
            {"type": "redacted_thinking", "data": seal("other", "abc")},
            {"type": "redacted_thinking", "data": seal_id("", "gpt", None, (packed,))},
        )
    ).turns

    assert turns[1].parts == (
        Reasoning(text="hm", signature="s:1", origin="gemini"),
        Reasoning(text="short", sealed="enc", id="rs_1", summary=True, origin="gpt"),
        Reasoning(sealed="abc", origin="other"),
        Reasoning(sealed="enc", id="rs_1", summary=True, origin="gpt"),
    )


def test_a_damaged_seal_leaves_the_words(ask: Ask) -> None:
    turns = ask(
        messages=answered({"type": "thinking", "thinking": "hm", "signature": "_gwS1_??"})
    ).turns

    assert turns[1].parts == (Reasoning(text="hm"),)


def test_a_call_and_its_result(ask: Ask) -> None:
    turns = ask(
        messages=[
            *answered({"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}),
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "is_error": True,
                        "content": [
                            text("seen"),
                            {"type": "image", "source": {"type": "url", "url": "https://a"}},
                        ],
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            },
        ]
    ).turns

    assert turns[1].parts == (ToolCall(id="t1", name="look", arguments='{"a":1}'),)
    assert turns[2].parts == (
        ToolResult(
            call_id="t1",
            content=(Text(text="seen"), Media(kind="image", url="https://a")),
            failed=True,
            cache="5m",
        ),
    )


def test_a_signature_comes_back_out_of_a_calls_id_and_its_results(ask: Ask) -> None:
    thought = Reasoning(text="hm", signature="r", origin="gemini")
    sealed = seal_id("t1", "gemini", "sig", (thought,))
    turns = ask(
        messages=[
            *answered({"type": "tool_use", "id": sealed, "name": "look", "input": {}}),
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": sealed}]},
        ]
    ).turns

    assert turns[1].parts == (
        thought,
        ToolCall(id="t1", name="look", arguments="{}", signature="sig", origin="gemini"),
    )
    assert turns[2].parts == (ToolResult(call_id="t1"),)


def test_content_of_a_result_that_has_no_neutral_form_is_kept_whole(ask: Ask) -> None:
    content = [text("a"), {"type": "tool_reference", "tool_name": "x"}]

    (part,) = (
        ask(messages=user({"type": "tool_result", "tool_use_id": "t", "content": content}))
        .turns[0]
        .parts
    )

    assert isinstance(part, ToolResult)
    assert part.content == (Text(text="a"),)
    assert loaded(dict(part.extra)) == {"content": content}


@pytest.mark.parametrize(
    "kind",
    [
        "server_tool_use",
        "web_search_tool_result",
        "mcp_tool_use",
        "compaction",
        "container_upload",
        "block_of_next_year",
    ],
)
def test_blocks_that_only_this_dialect_knows_are_carried_whole(ask: Ask, kind: str) -> None:
    block = {"type": kind, "id": "x", "anything": [1, {"a": None}]}

    (part,) = ask(messages=answered(block)).turns[1].parts

    assert isinstance(part, Foreign)
    assert (part.dialect, part.type) == ("claude", kind)
    assert loaded({"raw": part.raw}) == {"raw": block}


def test_an_image_or_document_source_of_a_new_kind_is_carried_whole(ask: Ask) -> None:
    blocks = [{"type": kind, "source": {"type": "new"}} for kind in ("image", "document")]

    assert [type(part) for part in ask(messages=user(*blocks)).turns[0].parts] == [Foreign] * 2


def test_citations_keep_the_vendors_own_object(ask: Ask) -> None:
    own = {
        "type": "char_location",
        "cited_text": "words",
        "document_index": 2,
        "document_title": "T",
        "start_char_index": 0,
        "end_char_index": 5,
    }
    found = {
        "type": "web_search_result_location",
        "url": "https://a",
        "title": "A",
        "cited_text": "w",
        "encrypted_index": "e",
    }
    borrowed = {**found, "encrypted_index": ""}

    (part,) = ask(messages=answered(text("x", citations=[own, found, borrowed]))).turns[1].parts

    assert isinstance(part, Text)
    first, second, third = part.citations
    assert (first.quote, first.document, first.title, first.url) == ("words", 2, "T", None)
    assert (second.url, second.title, second.dialect) == ("https://a", "A", "claude")
    assert loaded({"1": first.raw, "2": second.raw}) == {"1": own, "2": found}
    assert third == Citation(url="https://a", title="A", quote="w")


def test_system_messages_before_the_first_turn_are_instructions(ask: Ask) -> None:
    conversation = ask(
        system="one",
        messages=[
            {"role": "system", "content": "two"},
            {"role": "user", "content": "q"},
            {"role": "system", "content": [text("later")]},
        ],
    )

    assert conversation.instructions == (Text(text="one"), Text(text="two"))
    assert [turn.role for turn in conversation.turns] == ["user", "system"]


def test_a_tool_of_the_clients_own(ask: Ask) -> None:
    schema = {"type": "object", "properties": {}}
    (tool,) = ask(
        tools=[
            {
                "type": "custom",
                "name": "look",
                "description": "d",
                "input_schema": schema,
                "strict": True,
                "cache_control": {"type": "ephemeral"},
                "defer_loading": True,
            }
        ]
    ).tools

    assert (tool.name, tool.description, tool.strict, tool.cache) == ("look", "d", True, "5m")
    assert loaded({"schema": tool.schema, **tool.extra}) == {
        "schema": schema,
        "defer_loading": True,
    }


@pytest.mark.parametrize(
    ("kind", "hosted"),
    [
        ("web_search_20250305", "web_search"),
        ("web_fetch_20260318", "web_fetch"),
        ("code_execution_20250825", "code_execution"),
        ("computer_20250124", "computer"),
        ("mcp_toolset", "mcp"),
        ("bash_20250124", "other"),
        ("tool_of_next_year", "other"),
    ],
)
def test_a_tool_of_the_vendors_own(ask: Ask, kind: str, hosted: str) -> None:
    declared = {"type": kind, "name": "n", "max_uses": 3}

    (tool,) = ask(tools=[declared]).tools

    assert (tool.name, tool.hosted, tool.dialect) == ("n", hosted, "claude")
    assert loaded({"raw": tool.raw}) == {"raw": declared}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "look"}, ToolChoice("only", ("look",))),
    ],
)
def test_tool_choices(ask: Ask, choice: Any, expected: ToolChoice) -> None:
    assert ask(tool_choice=choice).tool_choice == expected
    assert ask(tool_choice=choice).parallel_tools is None
    one = ask(tool_choice={**choice, "disable_parallel_tool_use": True})
    assert one.parallel_tools is False


@pytest.mark.parametrize(
    ("members", "wish", "kept"),
    [
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"}},
            Thinking(enabled=True, budget=2000, show=False),
            {},
        ),
        (
            {"thinking": {"type": "adaptive", "display": "summarized"}},
            Thinking(enabled=True, budget=-1, show=True),
            {},
        ),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            Thinking(enabled=True, effort="low"),
            {},
        ),
        ({"output_config": {"effort": "max"}}, Thinking(effort="max"), {}),
        ({"thinking": {"type": "disabled"}}, Thinking(enabled=False), {}),
        (
            {
                "thinking": {"type": "enabled", "budget_tokens": 2000},
                "output_config": {"effort": "low", "task_budget": {"total": 1}},
            },
            Thinking(enabled=True, budget=2000),
            {"output_config": {"effort": "low", "task_budget": {"total": 1}}},
        ),
        (
            {"thinking": {"type": "between_tools"}},
            Thinking(enabled=False),
            {"thinking": {"type": "between_tools"}},
        ),
        (
            {"thinking": {"type": "of_next_year", "x": 1}},
            None,
            {"thinking": {"type": "of_next_year", "x": 1}},
        ),
    ],
)
def test_thinking(ask: Ask, members: Any, wish: Thinking | None, kept: Any) -> None:
    conversation = ask(**members)

    assert conversation.thinking == wish
    assert loaded(dict(conversation.extra)) == kept


@pytest.mark.parametrize(
    "members",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
    ],
    ids=["today", "older beta"],
)
def test_an_answers_form(ask: Ask, members: Any) -> None:
    output = ask(**members).output

    assert isinstance(output, Output)
    assert loaded({"schema": output.schema}) == {"schema": {"type": "object"}}


def test_the_wish_to_keep_a_prefill_is_noted_where_there_is_one(ask: Ask) -> None:
    headers = {"x-gateway-assistant-prefill": " Preserve "}
    prefilled = answered(text("The answer is ("))

    assert "x-gateway-assistant-prefill" in ask(headers, messages=prefilled).extra
    assert "x-gateway-assistant-prefill" not in ask(headers).extra
    assert "x-gateway-assistant-prefill" not in ask(messages=prefilled).extra


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("no messages", {"messages": None}, "messages: Field required"),
    ("no turn", {"messages": []}, "messages: at least one"),
    ("messages of text", {"messages": "hi"}, "messages: must be a list"),
    ("a turn of text", {"messages": ["hi"]}, "messages.0: must be an object"),
    ("no role", {"messages": [{"content": "x"}]}, "messages.0.role: Field required"),
    ("a new role", {"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: must be"),
    ("no content", {"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    (
        "content of numbers",
        {"messages": [{"role": "user", "content": 3}]},
        "messages.0.content: must be a string or a list",
    ),
    (
        "empty content",
        {"messages": [{"role": "user", "content": ""}]},
        "messages.0: all messages must have non-empty content",
    ),
    ("a block of text", {"messages": user("x")}, "messages.0.content.0: must be an object"),
    ("a block without type", {"messages": user({})}, "messages.0.content.0.type: Field required"),
    (
        "text of numbers",
        {"messages": user(text("a"), {"type": "text", "text": 1})},
        "messages.0.content.1.text: must be a string",
    ),
    (
        "a call by the user",
        {"messages": user({"type": "tool_use", "id": "a", "name": "b", "input": {}})},
        "messages.0.content.0: tool_use blocks can only be in assistant messages",
    ),
    (
        "a result by the assistant",
        {"messages": answered({"type": "tool_result", "tool_use_id": "a"})},
        "messages.1.content.0: tool_result blocks can only be in user messages",
    ),
    (
        "input that is a list",
        {"messages": answered({"type": "tool_use", "id": "a", "name": "b", "input": []})},
        "messages.1.content.0.input: must be an object",
    ),
    (
        "an image without source",
        {"messages": user({"type": "image"})},
        "messages.0.content.0.source: Field required",
    ),
    (
        "a source without data",
        {"messages": user({"type": "image", "source": {"type": "base64", "media_type": "i"}})},
        "messages.0.content.0.source.data: Field required",
    ),
    ("system of numbers", {"system": 3}, "system: must be a string or a list"),
    ("a system image", {"system": [{"type": "image"}]}, "system.0.type: must be text"),
    ("max_tokens of text", {"max_tokens": "many"}, "max_tokens: must be an integer"),
    ("negative max_tokens", {"max_tokens": -1}, "max_tokens: must be greater"),
    ("temperature of text", {"temperature": "hot"}, "temperature: must be a number"),
    ("stream of text", {"stream": "yes"}, "stream: must be true or false"),
    ("stop of text", {"stop_sequences": "x"}, "stop_sequences: must be a list of strings"),
    ("tools of text", {"tools": "x"}, "tools: must be a list"),
    ("a tool without name", {"tools": [{"input_schema": {}}]}, "tools.0.name: Field required"),
    ("a tool without schema", {"tools": [{"name": "a"}]}, "tools.0.input_schema: Field required"),
    (
        "a schema of text",
        {"tools": [{"name": "a", "input_schema": "x"}]},
        "tools.0.input_schema: must be an object",
    ),
    ("an unknown choice", {"tool_choice": {"type": "maybe"}}, "tool_choice.type: must be auto"),
    ("a choice without name", {"tool_choice": {"type": "tool"}}, "tool_choice.name: Field"),
    (
        "thinking without budget",
        {"thinking": {"type": "enabled"}},
        "thinking.budget_tokens: Field required",
    ),
    (
        "a form that is none",
        {"output_config": {"format": {"type": "xml"}}},
        "output_config.format.type: must be json_schema",
    ),
    ("metadata of text", {"metadata": "x"}, "metadata: must be an object"),
]


@pytest.mark.parametrize(
    ("members", "complaint"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_a_malformed_request_is_refused_by_the_members_name(
    ask: Ask, members: Any, complaint: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(**members)

    assert refused.value.message.startswith(complaint)


def nested(depth: int) -> bytes:
    block = b'{"type":"tool_result","tool_use_id":"t","content":[%b]}'
    inner = b'{"type":"text","text":"x"}'
    for _ in range(depth):
        inner = block % inner
    return b'{"messages":[{"role":"user","content":[%b]}]}' % inner


@pytest.mark.parametrize("depth", [1, 2, 100, 400])
def test_blocks_within_blocks_surprise_nobody(client: ClientSide, said: Said, depth: int) -> None:
    (part,) = client.read_request(said(nested(depth))).turns[0].parts

    assert isinstance(part, ToolResult)
    assert bool(part.content) == (depth == 1)


def test_a_body_that_is_no_object_lacks_its_messages(client: ClientSide) -> None:
    call = Call(kind=Kind.LLM, format="claude", model="", stream=False, body=b"[]")

    with pytest.raises(BadRequest, match="messages: Field required"):
        client.read_request(call)
