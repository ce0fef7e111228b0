"""Events, written as the chunks of a chat completion."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from gateway_format_openai import CHAT
from msgspec import Raw
from openai.types.chat import ChatCompletionChunk

from gateway_core import (
    ChoiceEnded,
    Citation,
    CitationAdded,
    ClientSide,
    Conversation,
    Foreign,
    Grammar,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    Thinking,
    Usage,
    UsageReported,
)
from gateway_formats.grammar import find_violation

START = ReplyStarted("r1", "m", 7)

END = ChoiceEnded("stop")

SILENT = Conversation(stream_usage=False)


def grammar() -> Grammar:
    assert CHAT.grammar is not None
    return CHAT.grammar


def stream(
    client: ClientSide,
    *events: StreamEvent,
    received: Conversation = SILENT,
    losses: Losses | None = None,
) -> bytes:
    writer = client.stream_writer(received, Losses() if losses is None else losses)
    return b"".join(writer.feed((event,)) for event in events) + writer.close()


def chunks(written: bytes) -> list[dict[str, Any]]:
    frames = [frame.removeprefix(b"data: ") for frame in written.split(b"\n\n") if frame]
    assert frames.pop() == b"[DONE]"
    for frame in frames:
        ChatCompletionChunk.model_validate_json(frame)
    return [msgspec.json.decode(frame) for frame in frames]


def deltas(client: ClientSide, *events: StreamEvent, **members: Any) -> list[dict[str, Any]]:
    """The deltas between the first chunk and the last."""
    written = chunks(stream(client, START, *events, END, **members))
    return [chunk["choices"][0]["delta"] for chunk in written[1:-1]]


def text_part(text: str, index: int = 0) -> Sequence[StreamEvent]:
    return PartStarted(index, Text(text="")), PartGrew(index, text), PartEnded(index)


def test_a_stream_is_written_in_full(client: ClientSide) -> None:
    written = chunks(stream(client, START, *text_part("a"), END))

    head = {"id": "chatcmpl-r1", "object": "chat.completion.chunk", "created": 7, "model": "m"}

    def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]}

    assert written == [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "a"}),
        chunk({}, "stop"),
    ]


def test_usage_comes_in_a_chunk_of_its_own_when_it_is_wanted(client: ClientSide) -> None:
    usage = UsageReported(Usage(input_tokens=1, output_tokens=2))
    received = Conversation(stream_usage=True)

    written = chunks(stream(client, START, usage, END, usage, received=received))
    unwanted = stream(client, START, usage, END)

    assert [chunk["usage"] for chunk in written[:-1]] == [None, None]
    assert written[-1]["choices"] == []
    assert written[-1]["usage"]["total_tokens"] == 3
    assert b"usage" not in unwanted


def test_the_model_asked_for_stands_in_for_one_that_was_not_named(client: ClientSide) -> None:
    received = Conversation(model="asked", stream_usage=False)

    written = chunks(stream(client, ReplyStarted("r1", ""), END, received=received))

    assert (written[0]["model"], written[0]["created"]) == ("asked", 0)


def test_shared_members_of_a_reply_are_in_every_chunk(client: ClientSide) -> None:
    extra = {
        "system_fingerprint": Raw(b'"fp"'),
        "service_tier": Raw(b'"default"'),
        "other": Raw(b"1"),
    }

    written = chunks(stream(client, ReplyStarted("r1", "m", 7, extra), *text_part("a"), END))

    assert all(chunk["system_fingerprint"] == "fp" for chunk in written)
    assert all(chunk["service_tier"] == "default" for chunk in written)
    assert all("other" not in chunk for chunk in written)


def test_thinking_grows_in_its_own_member(client: ClientSide) -> None:
    output = deltas(
        client,
        PartStarted(0, Reasoning()),
        PartGrew(0, "H"),
        PartEnded(0),
        PartStarted(1, Reasoning(text="m")),
        PartEnded(1),
        *text_part("a", 2),
    )

    assert output == [
        {"reasoning_content": "H"},
        {"reasoning_content": "\n\nm"},
        {"content": "a"},
    ]


def test_hidden_thinking_is_not_written(client: ClientSide) -> None:
    received = Conversation(thinking=Thinking(show=False), stream_usage=False)
    thinking = (PartStarted(0, Reasoning()), PartGrew(0, "H"), PartEnded(0))

    assert deltas(client, *thinking, received=received) == []


def test_texts_around_other_parts_do_not_run_together(client: ClientSide) -> None:
    losses = Losses()
    foreign = Foreign(dialect="claude", type="server_tool_use", raw=Raw(b"{}"))
    citation = CitationAdded(3, Citation(url="https://x", start=0, end=1))
    output = deltas(
        client,
        *text_part("a"),
        *text_part("b", 1),
        PartStarted(2, foreign),
        PartEnded(2),
        PartStarted(3, Text(text="")),
        PartGrew(3, "c"),
        citation,
        PartEnded(3),
        losses=losses,
    )

    assert [delta.get("content") for delta in output] == ["a", "b", "\n\nc", None]
    assert output[3]["annotations"][0]["url_citation"] == {
        "url": "https://x",
        "title": "",
        "start_index": 4,
        "end_index": 5,
    }
    assert list(losses.names) == ["part:server_tool_use"]


def test_media_are_shown_or_lost(client: ClientSide) -> None:
    losses = Losses()
    output = deltas(
        client,
        PartStarted(0, Media(kind="image", data="AA==")),
        PartEnded(0),
        PartStarted(1, Media(kind="audio", data="AA==", text="hi")),
        PartEnded(1),
        PartStarted(2, Media(kind="video", url="https://x")),
        PartEnded(2),
        losses=losses,
    )

    assert output[0]["images"][0]["image_url"] == {"url": "data:image/png;base64,AA=="}
    assert output[1]["audio"]["transcript"] == "hi"
    assert len(output) == 2
    assert list(losses.names) == ["video"]


def test_a_refusal_grows_in_its_own_member(client: ClientSide) -> None:
    refusal = (PartStarted(0, Refusal(text="")), PartGrew(0, "No."), PartEnded(0))
    written = chunks(stream(client, START, *refusal, ChoiceEnded("refusal")))

    assert written[1]["choices"][0]["delta"] == {"refusal": "No."}
    assert written[-1]["choices"][0]["finish_reason"] == "stop"


def test_log_probabilities_stand_beside_their_text(client: ClientSide) -> None:
    tokens = Raw(b'{"content":[{"token":"a","logprob":-1.0,"top_logprobs":[]}]}')
    written = chunks(
        stream(client, START, PartStarted(0, Text(text="")), PartGrew(0, "a", 0, tokens), END)
    )

    assert written[1]["choices"][0]["logprobs"] == msgspec.json.decode(tokens)
    assert written[1]["choices"][0]["delta"] == {"content": "a"}


def test_every_choice_begins_with_its_role(client: ClientSide) -> None:
    written = chunks(
        stream(
            client,
            START,
            PartStarted(0, Text(text=""), 1),
            PartGrew(0, "b", 1),
            PartEnded(0, 1),
            ChoiceEnded("stop", 0),
            ChoiceEnded("length", 1),
            ChoiceEnded("stop", 2),
        )
    )

    output = [(c["choices"][0]["index"], c["choices"][0]["delta"]) for c in written]
    role = {"role": "assistant", "content": ""}
    assert output == [
        (0, role),
        (1, role),
        (1, {"content": "b"}),
        (0, {}),
        (1, {}),
        (2, role),
        (2, {}),
    ]


@pytest.mark.parametrize("before", [(), (START,), (START, *text_part("a")[:2])])
def test_a_failure_is_the_last_frame(client: ClientSide, before: Sequence[StreamEvent]) -> None:
    written = stream(client, *before, ReplyFailed("bad", "overloaded_error", "c", 529))

    last = msgspec.json.decode(written.split(b"\n\n")[-2].removeprefix(b"data: "))
    assert last == {
        "error": {"message": "bad", "type": "overloaded_error", "param": None, "code": "c"}
    }
    assert b"[DONE]" not in written
    assert find_violation(grammar(), written) is None


def test_a_failure_without_words_of_its_own_is_named_after_its_status(client: ClientSide) -> None:
    written = stream(client, ReplyFailed("slow down", None, "bad_gateway", 429))

    assert b'"type":"rate_limit_error"' in written
    assert b'"code":"rate_limit_exceeded"' in written


def test_a_stream_that_never_began_ends_with_an_error(client: ClientSide) -> None:
    assert b'"error"' in client.stream_writer(SILENT, Losses()).close()


def test_line_separators_within_text_are_escaped(client: ClientSide) -> None:
    written = stream(client, START, *text_part("a\u2028b\u0085c"), END)

    assert len(written.decode().splitlines()) == written.count(b"\n")
    assert chunks(written)[1]["choices"][0]["delta"]["content"] == "a\u2028b\u0085c"


@pytest.mark.parametrize("text", ['",', ',"', '","', "\\", '\\"', "\n", "\u2028", "[", "]"])
def test_texts_of_one_batch_are_told_apart_whatever_they_hold(
    client: ClientSide, text: str
) -> None:
    begin = [ReplyStarted("r", "m"), PartStarted(0, Text(text=""))]
    grown = [PartGrew(0, each) for each in (text, "a", text, text)]

    one, many = (client.stream_writer(Conversation(), Losses()) for _ in range(2))

    at_once = one.feed([*begin, *grown])
    assert at_once == b"".join(many.feed([event]) for event in (*begin, *grown))
