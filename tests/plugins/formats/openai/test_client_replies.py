"""Any vendor's answer, written whole for a chat client."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from openai.types.chat import ChatCompletion

from gateway_core import (
    Choice,
    Citation,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    Thinking,
    Tool,
    ToolCall,
    Usage,
    unseal_id,
)

ASKED = Conversation(model="asked")


def write(
    client: ClientSide, *parts: Any, received: Conversation = ASKED, **members: Any
) -> tuple[dict[str, Any], list[str]]:
    """The message that these parts are written as, and what was lost."""
    losses = Losses()
    choice = Choice(parts=parts, finish=members.pop("finish", "stop"))
    written = client.write_reply(Reply(id="r1", model="m", choices=(choice,)), received, losses)
    ChatCompletion.model_validate_json(written)
    message: dict[str, Any] = msgspec.json.decode(written)["choices"][0]["message"]
    return message, list(losses.names)


def test_a_reply_is_written_in_full(client: ClientSide) -> None:
    usage = Usage(input_tokens=9, output_tokens=4, cached_tokens=2, cache_write_tokens=1)
    reply = Reply(
        id="msg_1",
        model="",
        created=7,
        choices=(Choice(parts=(Text(text="a"),)), Choice(parts=(), finish="length")),
        usage=usage,
    )

    written = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert written == {
        "id": "chatcmpl-msg_1",
        "object": "chat.completion",
        "created": 7,
        "model": "asked",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            },
            {
                "index": 1,
                "message": {"role": "assistant", "content": "", "refusal": None},
                "logprobs": None,
                "finish_reason": "length",
            },
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def test_an_id_of_this_dialect_stays_as_it_is(client: ClientSide) -> None:
    reply = Reply(id="chatcmpl-1", model="m", choices=(Choice(),))

    assert msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))["id"] == "chatcmpl-1"


def test_thinking_is_shown_beside_the_text(client: ClientSide) -> None:
    message, lost = write(
        client, Reasoning(text="H"), Reasoning(text="m", summary=True), Text(text="a")
    )

    assert message["reasoning_content"] == "H\n\nm"
    assert message["content"] == "a"
    assert lost == []


def test_hidden_thinking_is_shown_only_when_there_is_nothing_else(client: ClientSide) -> None:
    received = Conversation(thinking=Thinking(show=False))

    beside, _ = write(client, Reasoning(text="Hm."), Text(text="a"), received=received)
    alone, _ = write(client, Reasoning(text="Hm."), received=received)

    assert "reasoning_content" not in beside
    assert alone["reasoning_content"] == "Hm."


def test_signed_thinking_travels_in_the_id_of_the_first_call_after_it(client: ClientSide) -> None:
    first = Reasoning(text="Hm.", signature="s1", origin="claude-vendor")
    sealed = Reasoning(sealed="data", id="rs_1", origin="claude-vendor")
    second = Reasoning(text="So.", signature="s2", origin="claude-vendor")
    shown = Reasoning(text="only shown")

    message, lost = write(
        client,
        shown,
        first,
        sealed,
        Text(text="a"),
        ToolCall(id="a", name="f"),
        second,
        ToolCall(id="b", name="f", signature="s3", origin="gem"),
        ToolCall(id="c", name="f"),
        finish="tool_calls",
    )

    opened = [unseal_id(call["id"]) for call in message["tool_calls"]]
    assert opened[0] == ("a", "", None, (first, sealed))
    assert opened[1] == ("b", "gem", "s3", (second,))
    assert opened[2] == ("c", "", None, ())
    assert lost == []


def test_thinking_with_unknown_members_can_still_be_sealed(client: ClientSide) -> None:
    signed = Reasoning(text="x", signature="s", origin="o", extra={"format": Raw(b'"f"')})

    message, _ = write(client, signed, ToolCall(id="a", name="f"))

    assert unseal_id(message["tool_calls"][0]["id"])[3] == (
        Reasoning(text="x", signature="s", origin="o"),
    )


def test_what_was_sealed_comes_back_with_the_next_request(client: ClientSide, ask: Any) -> None:
    thinking = Reasoning(text="Hm.", signature="s1", origin="claude-vendor")
    call = ToolCall(id="a", name="f", arguments="{}", signature="s3", origin="claude-vendor")
    message, _ = write(client, thinking, Text(text="t"), call)
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "1"}

    turns = ask([{"role": "user", "content": "hi"}, message, result]).turns

    assert turns[1].parts == (thinking, Text(text="t"), call)
    assert turns[2].parts[0].call_id == "a"


def test_visible_thinking_that_is_not_sealed_is_kept_beside_what_is(
    client: ClientSide, ask: Any
) -> None:
    signed = Reasoning(text="signed", signature="s1", origin="v")
    message, _ = write(client, Reasoning(text="shown"), signed, ToolCall(id="a", name="f"))

    (turn,) = ask([message]).turns

    assert turn.parts[:2] == (signed, Reasoning(text="shown"))


def test_a_proof_with_no_call_to_carry_it_is_lost(client: ClientSide) -> None:
    signed = Reasoning(text="Hm.", signature="s")

    assert write(client, signed, Text(text="a"))[1] == ["reasoning_signature"]
    assert write(client, Text(text="a", signature="s"))[1] == ["reasoning_signature"]


def test_calls_are_written_with_arguments_that_are_json(client: ClientSide) -> None:
    message, _ = write(client, ToolCall(id="a", name="f"))

    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]


def test_a_custom_call_is_written_as_one(client: ClientSide) -> None:
    message, _ = write(client, ToolCall(id="a", name="calc", arguments="4", custom=True))

    assert message["tool_calls"][0]["custom"] == {"name": "calc", "input": "4"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"input":"4 + 4"}', "4 + 4"), ('{"a":1}', '{"a":1}'), ("rubbish", "rubbish")],
)
def test_a_function_that_stood_in_for_a_custom_tool_is_one_again(
    client: ClientSide, arguments: str, text: str
) -> None:
    received = Conversation(tools=(Tool(name="calc", custom=True),))

    message, _ = write(
        client, ToolCall(id="a", name="calc", arguments=arguments), received=received
    )

    assert message["tool_calls"][0]["type"] == "custom"
    assert message["tool_calls"][0]["custom"]["input"] == text


def test_an_older_client_gets_the_older_answer(client: ClientSide) -> None:
    losses = Losses()
    received = Conversation(tools=(Tool(name="f", dialect="openai-functions"),))
    calls = (ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="f"))
    reply = Reply(id="r", model="m", choices=(Choice(parts=calls, finish="tool_calls"),))

    choice = msgspec.json.decode(client.write_reply(reply, received, losses))["choices"][0]

    assert choice["message"]["function_call"] == {"name": "f", "arguments": "{}"}
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "function_call"
    assert list(losses.names) == ["parallel_tools"]


def test_an_older_client_gets_the_text_of_a_custom_call(client: ClientSide) -> None:
    received = Conversation(tools=(Tool(name="f", dialect="openai-functions"),))

    message, _ = write(
        client, ToolCall(id="a", name="sql", arguments="SELECT 1", custom=True), received=received
    )

    assert message["function_call"] == {"name": "sql", "arguments": "SELECT 1"}


def test_a_refusal_has_its_own_member(client: ClientSide) -> None:
    message, _ = write(client, Refusal(text="No."), finish="refusal")

    assert (message["content"], message["refusal"]) == (None, "No.")


def test_texts_around_other_parts_do_not_run_together(client: ClientSide) -> None:
    message, lost = write(
        client,
        Text(text="a"),
        Text(text="b"),
        Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}")),
        Text(text="c"),
    )

    assert message["content"] == "ab\n\nc"
    assert lost == ["part:server_tool_use"]


def test_sources_are_annotations_with_places_in_the_whole_text(client: ClientSide) -> None:
    raw = (
        b'{"type":"url_citation","url_citation":'
        b'{"url":"https://z","title":"","start_index":0,"end_index":0,"x":1}}'
    )
    own = Citation(url="https://z", raw=Raw(raw), dialect="openai")
    other = Citation(url="https://x", title="X", quote="q", start=0, end=1)

    message, lost = write(
        client,
        Text(text="aa"),
        Text(text="b", citations=(other, own)),
        Text(text="c", citations=(Citation(document=1),)),
    )

    assert message["annotations"] == [
        {
            "type": "url_citation",
            "url_citation": {
                "url": "https://x",
                "title": "X",
                "content": "q",
                "start_index": 2,
                "end_index": 3,
            },
        },
        msgspec.json.decode(raw),
    ]
    assert lost == ["citations"]


def test_pictures_and_speech_are_shown_and_other_media_lost(client: ClientSide) -> None:
    message, lost = write(
        client,
        Media(kind="image", data="AA==", media_type="image/webp"),
        Media(kind="image", url="https://x"),
        Media(kind="audio", data="AA==", file_id="audio_1", text="hi"),
        Media(kind="video", url="https://x"),
    )

    assert [image["image_url"]["url"] for image in message["images"]] == [
        "data:image/webp;base64,AA==",
        "https://x",
    ]
    assert message["audio"] == {
        "id": "audio_1",
        "data": "AA==",
        "transcript": "hi",
        "expires_at": 0,
    }
    assert lost == ["video"]


@pytest.mark.parametrize(
    ("finish", "parts", "word"),
    [
        ("stop", (), "stop"),
        ("length", (), "length"),
        ("tool_calls", (), "tool_calls"),
        ("content_filter", (), "content_filter"),
        ("refusal", (), "content_filter"),
        ("refusal", (Refusal(text="No."),), "stop"),
        ("pause", (), "stop"),
        ("error", (), "error"),
    ],
)
def test_the_reason_to_end_is_in_this_dialects_words(
    client: ClientSide, finish: Any, parts: tuple[Any, ...], word: str
) -> None:
    reply = Reply(id="r", model="m", choices=(Choice(parts=parts, finish=finish),))

    written = msgspec.json.decode(client.write_reply(reply, ASKED, Losses()))

    assert written["choices"][0]["finish_reason"] == word
