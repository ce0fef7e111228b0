"""Every recorded answer, rendered for every client: the vendor's own SDK types accept it, it is
well formed, and it says what the vendor said.

In process and by pure functions; tests/interface/test_sdks.py does the same over sockets.
"""

from collections.abc import Callable
from typing import Any

import plain_readers
import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from corpus import Item, answer, items
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from plain_readers import Outcome, arguments, frames
from pydantic import TypeAdapter

from gateway_core import (
    Conversation,
    Losses,
    Refusal,
    Reply,
    Text,
    ToolCall,
    UpstreamError,
    WireFormat,
    plugins,
)
from gateway_core.pipeline.reply_sanitizer import ReplySanitizer
from gateway_core.plugins import registry
from gateway_formats.fold import gather
from gateway_formats.grammar import find_violation

FOLDERS = {
    "openai": "openai_chat",
    "openai-responses": "openai_responses",
    "claude": "anthropic_messages",
    "gemini": "gemini_generate_content",
    "ollama": "ollama_chat",
}
UNREADABLE = {"joined_turns", "json_array_stream"}
"""Not one answer each: see tests/corpora/README.md."""
FORMATS: dict[str, WireFormat] = dict(registry.build(plugins.load()).formats)

claude_event: TypeAdapter[Any] = TypeAdapter(BetaRawMessageStreamEvent)
responses_event: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def each(check: Callable[[Any], Any]) -> Callable[[bytes], None]:
    """Check every SSE frame; an error frame is the format's own and has no type in the SDK."""

    def accept(stream: bytes) -> None:
        for frame in frames(stream):
            if "error" not in frame and frame.get("type") != "error":
                check(frame)

    return accept


def ollama_lines(stream: bytes) -> None:
    for line in stream.splitlines():
        if b'"error"' not in line[:10]:
            ChatResponse.model_validate_json(line)


WHOLE: dict[str, Callable[[bytes], Any]] = {
    "openai": ChatCompletion.model_validate_json,
    "openai-responses": Response.model_validate_json,
    "claude": BetaMessage.model_validate_json,
    "gemini": GenerateContentResponse.model_validate_json,
    "ollama": ChatResponse.model_validate_json,
}
STREAMED: dict[str, Callable[[bytes], None]] = {
    "openai": each(ChatCompletionChunk.model_validate),
    "openai-responses": each(responses_event.validate_python),
    "claude": each(claude_event.validate_python),
    "gemini": each(GenerateContentResponse.model_validate),
    "ollama": ollama_lines,
}


def is_accepted(check: Callable[[bytes], Any], body: bytes) -> bool:
    """Whether the SDK knows all that a recording says; vendors are sometimes ahead of it."""
    try:
        check(body)
    except (ValueError, AttributeError):
        return False
    return True


def is_one(wire: str, item: Item) -> bool:
    """Whether an item is an answer in this dialect: some folders hold neighbours too."""
    if wire in ("ollama", "openai-responses"):
        is_chat = b'"choices"' in answer(item)[:300]
        return item["endpoint"].endswith(("/api/chat", "/responses")) and not is_chat
    return True


def good(wire: str, *, stream: bool) -> list[Item]:
    return [
        item
        for item in items(FOLDERS[wire])
        if item["response_status"] == 200
        and item["stream"] == stream
        and not UNREADABLE & set(item["features"])
        and is_one(wire, item)
    ]


def says_the_same(reported: Outcome, written: Outcome, losses: Losses) -> None:
    # Clients that get one text see a paragraph's break where another part stood between two.
    assert reported.text.replace("\n\n", "") == written.text.replace("\n\n", "")
    if not any(name.startswith(("tool", "part:")) for name in losses.names):
        assert [name for name, _ in reported.calls] == [name for name, _ in written.calls]
        assert [_plain(given) for _, given in reported.calls] == [
            _plain(g) for _, g in written.calls
        ]


def _plain(given: Any) -> Any:
    """Free text counts as an object with one member, as dialects without free text carry it."""
    return given or {"input": ""} if isinstance(given, dict) else {"input": given}


def neutral(reply: Reply, *, shows_refusals: bool) -> Outcome:
    """What the hub holds, in the same terms; some dialects show a refusal as text."""
    parts = reply.choices[0].parts if reply.choices else ()
    spoken = (Text, Refusal) if shows_refusals else (Text,)
    return Outcome(
        "".join(part.text for part in parts if isinstance(part, spoken)),
        [
            (part.name, {"input": part.arguments} if part.custom else arguments(part.arguments))
            for part in parts
            if isinstance(part, ToolCall)
        ],
    )


@pytest.mark.parametrize("client", WHOLE)
@pytest.mark.parametrize("vendor", FOLDERS)
def test_whole_answers(vendor: str, client: str) -> None:
    reader, writer = FORMATS[vendor].vendor, FORMATS[client].client
    assert reader is not None
    assert writer is not None
    received = Conversation(model="m")
    same = FORMATS[vendor].dialect == FORMATS[client].dialect
    as_text = client in ("gemini", "ollama") or (client == "claude" and not same)
    rendered = 0
    for item in good(vendor, stream=False):
        try:
            reply = reader.read_reply(answer(item))
        except UpstreamError:
            assert {"error_in_200", "truncated"} & set(item["features"]), item["id"]
            continue
        losses = Losses()
        reply = ReplySanitizer("vendor", keeps_extra=same).reply(reply)

        body = writer.write_reply(reply, received, losses)

        if not same or is_accepted(WHOLE[client], answer(item)):
            WHOLE[client](body)
        says_the_same(
            plain_readers.read(client, body, stream=False),
            neutral(reply, shows_refusals=as_text),
            losses,
        )
        rendered += 1
    assert rendered > 10


@pytest.mark.parametrize("client", STREAMED)
@pytest.mark.parametrize("vendor", FOLDERS)
def test_streams(vendor: str, client: str) -> None:
    reader, writer = FORMATS[vendor].vendor, FORMATS[client].client
    assert reader is not None
    assert writer is not None
    grammar = FORMATS[client].grammar
    assert grammar is not None
    same = FORMATS[vendor].dialect == FORMATS[client].dialect
    as_text = client in ("gemini", "ollama") or (client == "claude" and not same)
    rendered = 0
    for item in good(vendor, stream=True):
        source = reader.stream_reader()
        losses = Losses()
        sanitizer = ReplySanitizer("vendor", keeps_extra=same)
        events = [sanitizer.event(event) for event in (*source.feed(answer(item)), *source.close())]
        target = writer.stream_writer(Conversation(model="m", stream=True), losses)

        stream = target.feed(events[:3]) + target.feed(events[3:]) + target.close()

        assert find_violation(grammar, stream) is None, item["id"]
        # The SDK's chunk type knows no calls with free text, though its API sends them; and
        # media that a recording cut short is not base64 any more.
        is_known = client != "openai" or b'"type":"custom"' not in stream
        if (
            is_known
            and not item.get("notes")
            and (not same or is_accepted(STREAMED[client], answer(item)))
        ):
            STREAMED[client](stream)
        try:
            reply = gather(events)
        except UpstreamError:
            continue
        says_the_same(
            plain_readers.read(client, stream, stream=True),
            neutral(reply, shows_refusals=as_text),
            losses,
        )
        rendered += 1
    assert rendered > 5
