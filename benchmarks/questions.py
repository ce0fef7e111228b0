"""The requests that the load client repeats: one whole HTTP request in a file."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

PART = 4096
"""Letters in one message of a long conversation."""
SIZES = {"1 KB": 1024, "100 KB": 100 * 1024, "5 MB": 5 * 1024 * 1024}
_SENTENCE = "The quick brown fox measures how long the lazy dog takes to answer. "


def chat(model: str, size: int, *, is_stream: bool) -> bytes:
    """A chat body of ``size`` bytes: a conversation of messages of a few kilobytes."""
    messages = [{"role": "system", "content": "Answer briefly."}]
    body = {"model": model, "max_tokens": 200, "stream": is_stream, "messages": messages}
    left = size - len(msgspec.json.encode(body))
    while left > 0:
        role = "assistant" if messages[-1]["role"] == "user" else "user"
        frame = len(msgspec.json.encode({"role": role, "content": ""})) + 1
        text = _text(min(PART, max(left - frame, 1)))
        messages.append({"role": role, "content": text})
        left -= frame + len(text)
    return msgspec.json.encode(body)


def embeddings(model: str, size: int) -> bytes:
    """A body of ``size`` bytes that asks for the vector of one text, the text of a chat."""
    body = {"model": model, "encoding_format": "base64", "input": ""}
    return msgspec.json.encode({**body, "input": _text(size - len(msgspec.json.encode(body)))})


def _text(size: int) -> str:
    return (_SENTENCE * (size // len(_SENTENCE) + 1))[:size]


def request(port: int, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """A whole request."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"host: 127.0.0.1:{port}",
        "content-type: application/json",
        "accept: */*",
        f"content-length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def write(folder: Path, name: str, data: bytes) -> Path:
    """Keep a request in a file of its own."""
    path = folder / f"{name}.request"
    path.write_bytes(data)
    return path
