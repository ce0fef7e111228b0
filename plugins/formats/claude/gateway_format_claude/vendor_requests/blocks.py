"""Writes the hub's parts as the content blocks of a request.

https://docs.anthropic.com/en/api/messages#body-messages-content
"""

import re
import zlib
from collections.abc import Iterable

from gateway_core import (
    AnyPart,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    readable_by,
)
from gateway_formats.instructions import take_from_text

from .._citations import write_citations_for_vendor
from .._dialect import DIALECT, SEARCH_RESULT, Extra, OutputBlock, Role
from .._tool_calls import write_input
from .breakpoints import write_breakpoint
from .media import write_media

# The vendor refuses ids that do not match ^[a-zA-Z0-9_-]+$.
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_FAILED = "The tool failed without saying why."
_TEXT_ONLY = {"type", "text"}


def make_legal_id(call_id: str) -> str:
    """The id in the vendor's alphabet; different ids stay different."""
    if call_id and not _ILLEGAL.search(call_id):
        return call_id
    return f"{_ILLEGAL.sub('_', call_id)}_{zlib.crc32(call_id.encode('utf-8', 'replace')):08x}"


class BlockWriter:
    """Writes the parts of one conversation for one provider."""

    def __init__(self, provider: str, *, native: bool, unsigned: bool, losses: Losses) -> None:
        self._provider = provider
        self.native = native
        self.may_mark = False
        """Whether anything that was written may hold a prompt-cache breakpoint."""
        self._unsigned = unsigned
        self._losses = losses

    def write(self, parts: Iterable[AnyPart], role: Role) -> list[OutputBlock]:
        blocks: list[OutputBlock] = []
        for part in parts:
            block = self._write(part, role)
            if block is not None:
                blocks.append(block)
        return blocks

    def write_system(self, parts: Iterable[Text]) -> list[dict[str, object]]:
        """System text; the vendor refuses text that is empty or only white space."""
        blocks: list[dict[str, object]] = []
        for part in parts:
            if part.extra:
                # ``system`` holds blocks and no messages, so a message's members have no place.
                part, members = take_from_text(part)
                self._losses.add_extra(members, within="messages")
            if part.text.strip():
                blocks.append(self._write_text(part))
        return blocks

    def keep_own(self, extra: Extra) -> Extra:
        """Members without a neutral name go back only to their own dialect."""
        if not self.native:
            self._losses.add_extra(extra)
            return {}
        return extra

    def _write(self, part: AnyPart, role: Role) -> OutputBlock | None:
        match part:
            case Text():
                return self._write_text(part) if part.text.strip() else None
            case ToolCall():
                if part.signature is not None:
                    self._losses.add("reasoning_signature")  # there is no slot for it here
                block: dict[str, object] = {
                    "type": "tool_use",
                    "id": make_legal_id(part.id),
                    "name": part.name,
                    "input": write_input(part, self._losses),
                }
                return self._mark(block, part.cache, part.extra)
            case ToolResult():
                result: dict[str, object] = {
                    "type": "tool_result",
                    "tool_use_id": make_legal_id(part.call_id),
                }
                content: object = part.extra.get("content") if self.native else None
                if content is None:
                    written = self.write(part.content, "user")
                    only = written[0] if len(written) == 1 else None
                    is_text = isinstance(only, dict) and only.keys() == _TEXT_ONLY
                    content = only["text"] if is_text and isinstance(only, dict) else written
                if content:
                    result["content"] = content
                elif part.failed:
                    result["content"] = _FAILED  # the vendor refuses an error without content
                if part.failed:
                    result["is_error"] = True
                return self._mark(result, part.cache, part.extra)
            case Reasoning():
                return self._write_thinking(part)
            case Media():
                kept = part.extra.get(SEARCH_RESULT) if self.native else None
                if kept is not None:
                    self.may_mark = True
                    return kept
                if role != "user":
                    self._losses.add(part.kind)  # only users show media on this wire
                    return None
                shown = write_media(part, self._provider, self._losses)
                return None if shown is None else self._mark(shown, part.cache, part.extra)
            case Refusal():
                self._losses.add("refusal")
                return {"type": "text", "text": part.text} if part.text.strip() else None
            case Foreign() if part.dialect == DIALECT:
                self.may_mark = True
                return part.raw
            case Foreign():
                self._losses.add(f"part:{part.type}")
                return None

    def _write_text(self, part: Text) -> dict[str, object]:
        if part.signature is not None:
            self._losses.add("reasoning_signature")
        block: dict[str, object] = {"type": "text", "text": part.text}
        if part.citations:
            citations = write_citations_for_vendor(part.citations, self._losses)
            if citations:
                block["citations"] = citations
        return self._mark(block, part.cache, part.extra)

    def _write_thinking(self, part: Reasoning) -> OutputBlock | None:
        """Thinking goes back only with a proof that this vendor can read."""
        extra = self.keep_own(part.extra)
        self.may_mark = self.may_mark or bool(extra)
        if part.cache is not None:
            self._losses.add("cache_control")  # thinking blocks take no breakpoint
        is_readable = readable_by(part.origin, self._provider, DIALECT)
        block = {**extra, "type": "thinking", "thinking": part.text}
        if part.signature is not None and is_readable:
            return {**block, "signature": part.signature}
        if part.sealed is not None and is_readable:
            return {**extra, "type": "redacted_thinking", "data": part.sealed}
        if part.signature is not None or part.sealed is not None:
            self._losses.add("reasoning_signature")
        if self._unsigned and part.text:
            return {**block, "signature": ""}
        if part.text:
            self._losses.add("reasoning")
        return None

    def _mark(self, block: dict[str, object], cache: str | None, extra: Extra) -> dict[str, object]:
        """The block with its own members and its breakpoint."""
        if extra:
            block |= self.keep_own(extra)
        if cache is not None:
            block.setdefault("cache_control", write_breakpoint(cache))
        self.may_mark = self.may_mark or "cache_control" in block
        return block
