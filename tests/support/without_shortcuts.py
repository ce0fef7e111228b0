"""Translation without its shortcuts: every frame, message and answer takes the general path."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from gateway_format_claude import vendor_replies as claude_replies
from gateway_format_claude._vendor_blocks import read_block as read_claude_block
from gateway_format_claude.vendor_requests import request as claude_vendor
from gateway_format_gemini import _open_reply as gemini_replies
from gateway_format_gemini import vendor_stream as gemini_streams
from gateway_format_openai.client_requests import chat as chat_requests
from gateway_format_openai.client_requests import messages as chat_messages

from gateway_core import ChoiceEnded, StreamEvent
from gateway_core.pipeline import reply_sanitizer
from gateway_formats import frame_scanner, sequence, sse

_LINE_END = re.compile(rb"\r\n|\n|\r")


@contextmanager
def without_short_cuts() -> Iterator[None]:
    """Inside the block everything is translated without shortcuts."""
    with pytest.MonkeyPatch.context() as patch:
        _read_all_frames(patch)
        _read_all_requests(patch)
        _write_all_requests(patch)
        _read_all_replies(patch)
        _write_all_replies(patch)
        yield


def events_of(whole: bytes) -> list[tuple[bytes, bytes]]:
    """Names and data of whole frames, line by line as in the standard."""
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
    patch.setattr(gemini_replies, "read_piece", lambda payload: None)


def _read_all_requests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chat_requests, "_COMMON", frozenset({"\0"}))
    patch.setattr(chat_messages, "read_plain_messages", lambda raw: None)


def _write_all_requests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claude_vendor, "write_words_only", lambda conversation, target, losses: None)


def _read_all_replies(patch: pytest.MonkeyPatch) -> None:
    def usual(body: bytes) -> object:
        raise msgspec.ValidationError

    def parts(message: object, body: bytes) -> tuple[Any, ...]:
        content = claude_replies._decode_content(body).content
        return tuple(read_claude_block(raw)[1] for raw in content)

    patch.setattr(claude_replies, "_decode_known", usual)
    patch.setattr(claude_replies, "_read_parts", parts)


def _write_all_replies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reply_sanitizer, "is_plain", lambda reply: False)
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
