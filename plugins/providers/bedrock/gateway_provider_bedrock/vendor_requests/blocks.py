"""The hub's parts as Converse's content blocks."""

import re
from collections.abc import Iterable
from hashlib import blake2s
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Foreign,
    Losses,
    Media,
    PartUnsupported,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    readable_by,
)

from .._answer import DIALECT
from .._shapes import BROKEN
from .media import Block, MediaWriter
from .models import Traits

# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")

_object = msgspec.json.Decoder(dict[str, Raw])
_raw = msgspec.json.Decoder(Raw)
_any = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.encode


class BlockWriter:
    def __init__(self, provider: str, traits: Traits, losses: Losses) -> None:
        self._provider = provider
        self._traits = traits
        self._losses = losses
        self._media = MediaWriter(losses)

    def write(self, parts: Iterable[AnyPart]) -> list[Block]:
        return [block for part in parts for block in self._write_part(part)]

    def cache_point(self, lifetime: str | None) -> list[Block]:
        if lifetime is None:
            return []
        if not self._traits.caches:
            self._losses.add("cache_control")
            return []
        # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CachePointBlock.html
        point = {"type": "default"} if lifetime == "5m" else {"type": "default", "ttl": lifetime}
        return [{"cachePoint": point}]

    def _write_part(self, part: AnyPart) -> list[Block]:
        self._losses.add_extra(part.extra, within="content")
        blocks: list[Block] = []
        match part:
            case Text():
                if part.citations:
                    self._losses.add("citations")
                blocks = text_block(part.text)
            case Refusal():
                self._losses.add("refusal")
                blocks = text_block(part.text)
            case Media():
                blocks = self._media.write(part)
            case Reasoning():
                # Only thinking that this vendor signed: unsigned thinking is refused.
                if part.signature is None and part.sealed is None:
                    if part.text:
                        self._losses.add("reasoning")
                elif not readable_by(part.origin, self._provider, DIALECT):
                    self._losses.add("reasoning_signature")
                elif part.sealed is not None:
                    # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningContentBlock.html
                    blocks = [{"reasoningContent": {"redactedContent": part.sealed}}]
                else:
                    reasoning = {"text": part.text, "signature": part.signature}
                    blocks = [{"reasoningContent": {"reasoningText": reasoning}}]
            case ToolCall():
                if part.signature is not None:
                    self._losses.add("reasoning_signature")
                arguments = _input(part.arguments)
                use = {"toolUseId": own_id(part.id), "name": part.name, "input": arguments}
                blocks = [{"toolUse": use}]
            case ToolResult():
                blocks = [self._result(part)]
            case Foreign():
                if part.dialect == DIALECT:
                    blocks = [_any.decode(part.raw)]
                else:
                    self._losses.add(f"part:{part.type}")
        if blocks or part.cache is None:
            return [*blocks, *self.cache_point(part.cache)]
        self._losses.add("cache_control")  # a point must have something before it
        return []

    def _result(self, part: ToolResult) -> Block:
        # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultContentBlock.html
        if any(isinstance(piece, Media) and piece.kind == "audio" for piece in part.content):
            raise PartUnsupported("audio")
        content = [block for piece in part.content for block in self._write_part(piece)]
        allowed = [block for block in content if "cachePoint" not in block]
        if len(allowed) < len(content):
            self._losses.add("cache_control")
        result: Block = {"toolUseId": own_id(part.call_id), "content": allowed or [{"json": {}}]}
        # status is for some models only: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html
        if part.failed and self._traits.statuses:
            result["status"] = "error"
        elif part.failed:
            self._losses.add("failed")
        return {"toolResult": result}


def text_block(text: str) -> list[Block]:
    """Text that is more than white space, which the vendor refuses."""
    return [{"text": text}] if text.strip() else []


def own_id(id: str) -> str:
    """An id in the vendor's alphabet and length; equal for equal ids."""
    if _ID.fullmatch(id):
        return id
    return f"tooluse_{blake2s(id.encode(), digest_size=16).hexdigest()}"


def _input(arguments: str) -> Any:
    """Arguments as an object; what is none stands in one, under ``input``."""
    text = arguments.strip()
    if not text:
        return {}
    try:
        _object.decode(text)
    except BROKEN:
        try:
            return {"input": _raw.decode(text)}
        except BROKEN:
            return {"input": text}
    return Raw(text.encode())
