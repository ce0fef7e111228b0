"""Recorded vendor traffic: see tests/corpora/README.md for the content of an item."""

import base64
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parent.parent / "corpora"

Item = dict[str, Any]


@cache
def items(wire_format: str) -> tuple[Item, ...]:
    """Every recorded request and answer of one wire format, in a stable order."""
    text = lzma.decompress((FOLDER / f"{wire_format}.jsonl.xz").read_bytes())
    return tuple(msgspec.json.decode(line) for line in text.splitlines())


def answer(item: Item) -> bytes:
    """The answer's bytes, as the vendor sent them."""
    body = item["response_body"] or ""
    if not isinstance(body, str):
        return msgspec.json.encode(body)
    return base64.b64decode(body) if item["response_body_encoding"] == "base64" else body.encode()


def question(item: Item) -> bytes | None:
    """The request's JSON, or ``None`` where it was not recorded or was not JSON."""
    if item["request_body_kind"] != "json":
        return None
    return msgspec.json.encode(item["request_body"])


def named(item: Item) -> str:
    """The item's name, for a test id."""
    return str(item["id"])
