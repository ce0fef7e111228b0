"""Translation without its short cuts: every frame, message and answer the general way."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from gateway_format_claude import replies as claude_replies
from gateway_format_claude import requests as claude_requests
from gateway_format_claude import stream_writing as claude_writing
from gateway_format_claude import vendor_requests as claude_vendor
from gateway_format_claude.answers import read_block as read_claude_block
from gateway_format_claude.usage import Counts, Meter
from gateway_format_gemini import replies as gemini_replies
from gateway_format_gemini import streams as gemini_streams
from gateway_format_gemini import vendor_contents as gemini_contents
from gateway_format_openai.client_requests import chat as chat_requests
from gateway_format_openai.client_requests import messages as chat_messages
from gateway_format_openai.client_stream import ChatWriter

from gateway_core import ChoiceEnded, PartGrew, StreamEvent, Usage
from gateway_core.pipeline import exchanges
from gateway_formats import frame_scanner, sequence, sse
from gateway_formats.ndjson import escape_line_separators

_LINE_END = re.compile(rb"\r\n|\n|\r")


@contextmanager
def without_short_cuts() -> Iterator[None]:
    """Everything in here is translated the long way."""
    with pytest.MonkeyPatch.context() as patch:
        _read_all_frames(patch)
        _read_all_requests(patch)
        _write_all_requests(patch)
        _read_all_replies(patch)
        _write_all_replies(patch)
        yield


def events_of(whole: bytes) -> list[tuple[bytes, bytes]]:
    """Names and data of whole frames, line by line as the standard tells it."""
    found: list[tuple[bytes, bytes]] = []
    name, data = b"", list[bytes]()
    for line in _LINE_END.split(whole.removeprefix(b"\xef\xbb\xbf")):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        elif not line:
            if b"\n".join(data):
                found.append((name, b"\n".join(data)))
            name, data = b"", []
    return found


def _read_all_frames(patch: pytest.MonkeyPatch) -> None:
    def through(
        skimmer: object, whole: bytes, look: frame_scanner.Look, tell: Callable[[list[str]], None]
    ) -> None:
        for name, data in events_of(whole + b"\n\n"):
            if look(name, data) is None:
                return

    def feed(frames: sse.FrameBuffer, chunk: bytes) -> bytes:
        frames.held += chunk
        return frames._take(frames._last_end())

    def parse_events(whole: bytes) -> list[tuple[bytes, bytes]]:
        return events_of(whole + b"\n\n")

    def parse_data(whole: bytes) -> list[bytes]:
        return [data for _, data in events_of(whole + b"\n\n")]

    patch.setattr(frame_scanner.FrameScanner, "through", through)
    patch.setattr(frame_scanner.FrameScanner, "text", lambda skimmer, frame: "")
    patch.setattr(sse.FrameBuffer, "feed", feed)
    patch.setattr(sse, "parse_events", parse_events)
    patch.setattr(gemini_streams, "parse_data", parse_data)
    patch.setattr(gemini_replies.OpenReply, "take_more", lambda reply, payload: [])


def _read_all_requests(patch: pytest.MonkeyPatch) -> None:
    nothing = frozenset({"\0"})
    patch.setattr(chat_requests, "_COMMON", nothing)
    patch.setattr(chat_messages, "read_plain_messages", lambda raw: None)
    patch.setattr(claude_requests, "_COMMON", nothing)


def _write_all_requests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claude_vendor, "is_plain", lambda conversation: False)
    patch.setattr(claude_vendor, "plain_messages", lambda turns: None)
    patch.setattr(gemini_contents, "plain_contents", lambda turns: [])


def _read_all_replies(patch: pytest.MonkeyPatch) -> None:
    def usual(body: bytes) -> object:
        raise msgspec.ValidationError

    def parts(message: object, body: bytes) -> tuple[Any, ...]:
        return tuple(read_claude_block(raw)[1] for raw in claude_replies._blocks_of(body).content)

    def counted(said: Counts) -> Usage | None:
        meter = Meter()
        meter.add(said)
        return meter.usage()

    patch.setattr(gemini_replies, "read_plain", lambda body: None)
    patch.setattr(claude_replies, "_usual", usual)
    patch.setattr(claude_replies, "_parts", parts)
    patch.setattr(claude_replies, "usage_of", counted)


def _write_all_replies(patch: pytest.MonkeyPatch) -> None:
    def chat(writer: Any, events: Sequence[StreamEvent]) -> bytes:
        out: list[bytes] = []
        for event in events:
            writer._write(event, out)
        return escape_line_separators(b"".join(out))

    def claude(writer: Any, events: Sequence[StreamEvent]) -> bytes:
        out: list[bytes] = []
        writer._note_candidates(() if writer._done else events)
        for event in () if writer._done else writer._sequence.feed(events):
            writer._grow(event, out) if isinstance(event, PartGrew) else writer._take(event, out)
            if writer._done:
                break
        if not writer._done:
            writer._begin(out)
        return b"".join(out)

    patch.setattr(exchanges, "is_plain", lambda reply: False)
    patch.setattr(ChatWriter, "feed", chat)
    patch.setattr(claude_writing.Writer, "feed", claude)
    patch.setattr(sequence.Sequencer, "feed", _in_sequence)


def _in_sequence(sequencer: Any, events: Sequence[StreamEvent]) -> list[StreamEvent]:
    ready: list[StreamEvent] = []
    for event in events:
        if getattr(event, "choice", 0):
            continue
        if isinstance(event, sequence.PartEvent):
            sequencer._place(event, ready)
            continue
        if isinstance(event, ChoiceEnded):
            sequencer._flush(ready)
        ready.append(event)
    return ready
