"""Answers of the mock vendor: bytes made beforehand, one file for each mode."""

import lzma
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

EVENTS = 60
"""Pieces of text in one stream."""
CHAT, MESSAGES = "openai-compatible", "anthropic-compatible"
COMPLETIONS, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"
RECORDED = Path(__file__).parents[1] / "tests" / "corpora" / "openai_embeddings.jsonl.xz"
VECTORS = "azure-dd-trace-py-v1-azure-embedding-46927b"
"""A recorded answer with one vector of 1,536 numbers, in base64 as the usual SDKs ask for it."""


class Mode(Struct, frozen=True):
    """One way the vendor answers, chosen by the first segment of the path."""

    name: str
    purpose: str
    dialect: str = CHAT
    """The type of the provider node for it."""
    is_stream: bool = False
    pause: int = 0
    """Microseconds between two events."""
    is_burst: bool = False
    """Sends the whole answer with one write."""
    endpoint: str = COMPLETIONS
    """What clients of the gateway call."""
    size: int = 0
    """Bytes of the body of a whole chat answer that is longer than the usual one."""

    @property
    def kind(self) -> str:
        """The vendor whose format it is, as other gateways name it."""
        return self.dialect.partition("-")[0]

    @property
    def path(self) -> str:
        return f"/{self.name}{self.endpoint if self.dialect == CHAT else '/v1/messages'}"


MODES = (
    Mode("plain", "chat, whole answer"),
    Mode("stream", "chat, 60 events at full speed, a write each", is_stream=True),
    Mode("burst", "chat, 60 events in one write", is_stream=True, is_burst=True),
    Mode("paced", "chat, 60 events 5 ms apart", is_stream=True, pause=5_000),
    Mode("slow", "chat, 60 events 100 ms apart", is_stream=True, pause=100_000),
    Mode("messages", "chat client, messages vendor, whole answer", MESSAGES),
    Mode("messages-stream", "chat client, messages vendor, 60 events", MESSAGES, is_stream=True),
    Mode(
        "messages-paced",
        "chat client, messages vendor, 60 events 5 ms apart",
        MESSAGES,
        is_stream=True,
        pause=5_000,
    ),
    Mode("embeddings", "embeddings, whole answer", endpoint=EMBEDDINGS),
    Mode("long", "chat, whole answer as long as that of embeddings", size=8_395),
    Mode("large", "chat, whole answer of 200 KB", size=200 * 1024),
    Mode("huge", "chat, whole answer of 5 MB", size=5 * 1024 * 1024),
)
BY_NAME = {mode.name: mode for mode in MODES}
_WORD = " measured"
_CHAT = {"id": "chatcmpl-1", "created": 1, "model": "bench"}
_USAGE = {"prompt_tokens": 200, "completion_tokens": EVENTS, "total_tokens": 200 + EVENTS}
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


def write_all(folder: Path) -> None:
    """Write the files that the vendor reads at its start."""
    for mode in MODES:
        pieces = _pieces(mode)
        framed = b"".join(struct.pack("=I", len(piece)) + piece for piece in pieces)
        (folder / mode.name).write_bytes(struct.pack("=I", mode.pause) + framed)


def _pieces(mode: Mode) -> Sequence[bytes]:
    if mode.endpoint == EMBEDDINGS:
        return [_whole(_recorded(VECTORS))]
    if not mode.is_stream:
        return [_whole(_chat_reply(mode.size) if mode.dialect == CHAT else _messages_reply())]
    events = list(_chat_events() if mode.dialect == CHAT else _messages_events())
    framed = [b"%x\r\n%s\r\n" % (len(event), event) for event in events]
    pieces = [_STREAM_HEAD + framed[0], *framed[1:-1], framed[-1] + b"0\r\n\r\n"]
    return [b"".join(pieces)] if mode.is_burst else pieces


def _whole(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def _recorded(name: str) -> bytes:
    items = map(msgspec.json.decode, lzma.decompress(RECORDED.read_bytes()).splitlines())
    body: str = next(item["response_body"] for item in items if item["id"] == name)
    return body.encode()


def _chat_reply(size: int = 0) -> bytes:
    """A whole chat answer, of so many bytes where it is to be longer than usual."""
    reply = _reply_of(_WORD * EVENTS)
    missing = size - len(reply)
    return reply if missing <= 0 else _reply_of((_WORD * size)[: len(_WORD) * EVENTS + missing])


def _reply_of(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return msgspec.json.encode(
        {**_CHAT, "object": "chat.completion", "choices": [choice], "usage": _USAGE}
    )


def _chat_events() -> Iterable[bytes]:
    """Sixty pieces of text, then the finish reason and the usage."""
    head = {**_CHAT, "object": "chat.completion.chunk"}
    for _ in range(EVENTS):
        choice = {"index": 0, "delta": {"content": _WORD}, "finish_reason": None}
        yield _event({**head, "choices": [choice]})
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield _event({**head, "choices": [choice]})
    yield _event({**head, "choices": [], "usage": _USAGE}) + b"data: [DONE]\n\n"


def _messages_reply() -> bytes:
    return msgspec.json.encode(
        {
            **_message(),
            "content": [{"type": "text", "text": _WORD * EVENTS}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 200, "output_tokens": EVENTS},
        }
    )


def _message() -> dict[str, object]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 200, "output_tokens": 1},
    }


def _messages_events() -> Iterable[bytes]:
    yield _event({"type": "message_start", "message": _message()})
    block = {"type": "text", "text": ""}
    yield _event({"type": "content_block_start", "index": 0, "content_block": block})
    for _ in range(EVENTS):
        delta = {"type": "text_delta", "text": _WORD}
        yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _event({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"output_tokens": EVENTS}
    yield _event({"type": "message_delta", "delta": ended, "usage": usage})
    yield _event({"type": "message_stop"})


def _event(data: dict[str, object]) -> bytes:
    named = f"event: {data['type']}\n".encode() if "type" in data else b""
    return named + b"data: " + msgspec.json.encode(data) + b"\n\n"
