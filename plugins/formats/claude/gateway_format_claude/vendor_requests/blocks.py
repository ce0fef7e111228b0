"""The hub's parts to the content blocks of a request."""

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

from .._cache_markers import written_marker
from .._citations import sent_citations
from .._dialect import DIALECT, Block, Extra, Role
from .._sources import kept_block, written_media
from .._tool_calls import as_object

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_FAILED = "The tool failed without saying why."


def legal_id(call_id: str) -> str:
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

    def write(self, parts: Iterable[AnyPart], role: Role) -> list[Block]:
        blocks = (self._write(part, role) for part in parts)
        return [block for block in blocks if block is not None]

    def texts(self, parts: Iterable[Text]) -> list[dict[str, object]]:
        """System text; the vendor refuses text that is empty or only white space."""
        return [self._text(part) for part in parts if part.text.strip()]

    def _write(self, part: AnyPart, role: Role) -> Block | None:
        match part:
            case Text():
                return self._text(part) if part.text.strip() else None
            case ToolCall():
                return self._call(part)
            case ToolResult():
                return self._result(part)
            case Reasoning():
                return self._thinking(part)
            case Media():
                return self._media(part, role)
            case Refusal():
                self._losses.add("refusal")
                return {"type": "text", "text": part.text} if part.text.strip() else None
            case Foreign():
                return self._foreign(part)

    def _text(self, part: Text) -> dict[str, object]:
        if part.signature is not None:
            self._note_signature(part)
        block: dict[str, object] = {"type": "text", "text": part.text}
        if part.citations:
            citations = sent_citations(part.citations, self._losses)
            if citations:
                block["citations"] = citations
        if part.cache is None and not part.extra:
            return block
        return self._marked(block, part.cache, part.extra)

    def _call(self, part: ToolCall) -> Block:
        self._note_signature(part)
        block: dict[str, object] = {
            "type": "tool_use",
            "id": legal_id(part.id),
            "name": part.name,
            "input": as_object(part, self._losses),
        }
        return self._marked(block, part.cache, part.extra)

    def _result(self, part: ToolResult) -> Block:
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": legal_id(part.call_id)}
        kept = part.extra.get("content") if self.native else None
        content = kept if kept is not None else self._result_content(part)
        if content:
            block["content"] = content
        elif part.failed:
            block["content"] = _FAILED  # the vendor wants words with an error
        if part.failed:
            block["is_error"] = True
        return self._marked(block, part.cache, part.extra)

    def _result_content(self, part: ToolResult) -> object:
        written = self.write(part.content, "user")
        if len(written) == 1 and isinstance(written[0], dict) and set(written[0]) == _PLAIN:
            return written[0]["text"]
        return written

    def _thinking(self, part: Reasoning) -> Block | None:
        """Thinking goes back only with a proof this vendor can read."""
        extra = self.own(part.extra)
        self.may_mark = self.may_mark or bool(extra)
        if part.cache is not None:
            self._losses.add("cache_control")
        readable = readable_by(part.origin, self._provider, DIALECT)
        if part.signature is not None and readable:
            return {
                **extra,
                "type": "thinking",
                "thinking": part.text,
                "signature": part.signature,
            }
        if part.sealed is not None and readable:
            return {**extra, "type": "redacted_thinking", "data": part.sealed}
        if part.signature is not None or part.sealed is not None:
            self._losses.add("reasoning_signature")
        if self._unsigned and part.text:
            return {**extra, "type": "thinking", "thinking": part.text, "signature": ""}
        if part.text:
            self._losses.add("reasoning")
        return None

    def _media(self, part: Media, role: Role) -> Block | None:
        kept = kept_block(part.extra) if self.native else None
        if kept is not None:
            self.may_mark = True
            return kept
        if role != "user":
            self._losses.add(part.kind)  # only users show things on this wire
            return None
        block = written_media(part, self._provider, self._losses)
        return None if block is None else self._marked(block, part.cache, part.extra)

    def _foreign(self, part: Foreign) -> Block | None:
        if part.dialect == DIALECT:
            self.may_mark = True
            return part.raw
        self._losses.add(f"part:{part.type}")
        return None

    def _marked(
        self, block: dict[str, object], cache: str | None, extra: Extra
    ) -> dict[str, object]:
        if extra:
            block |= self.own(extra)
        if cache is not None:
            block.setdefault("cache_control", written_marker(cache))
        self.may_mark = self.may_mark or "cache_control" in block
        return block

    def own(self, extra: Extra) -> Extra:
        """Members without a neutral name go back only to their own dialect."""
        if not self.native:
            self._losses.add_extra(extra)
            return {}
        return extra

    def _note_signature(self, part: Text | ToolCall) -> None:
        if part.signature is not None:
            self._losses.add("reasoning_signature")  # there is no slot for it here


_PLAIN = {"type", "text"}
