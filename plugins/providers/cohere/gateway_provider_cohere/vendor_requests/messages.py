"""The hub's turns to Cohere's messages.

Results of tools are messages of their own, ahead of what the user says in the
same turn. Thinking goes back as it came: as a block to models that think, as
``tool_plan`` to others, and text beside calls becomes a plan too. Documents
stand beside the messages, so that the model can cite them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartUnsupported,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from gateway_formats.whole_turns import check_turn

from .._citations import DOCUMENT_ID
from .._shapes import BROKEN

Row = dict[str, Any]

_BETWEEN = "\n\n"
_object = msgspec.json.Decoder(dict[str, Raw])
_raw = msgspec.json.Decoder(Raw)
_encode = msgspec.json.encode


class MessageWriter:
    """Writes turn after turn; ``documents`` fills on the way."""

    def __init__(self, losses: Losses, *, thinks: bool) -> None:
        self.documents: list[Row] = []
        self._losses = losses
        self._thinks = thinks
        """Whether the model takes its own thinking back."""

    def write(self, conversation: Conversation) -> list[Row]:
        messages: list[Row] = []
        for text in conversation.instructions:
            self._record_losses(text)
        if texts := self._texts(conversation.instructions):
            messages.append({"role": "system", "content": _BETWEEN.join(texts)})
        for turn in conversation.turns:
            messages += self._turn(turn)
        return messages

    def _turn(self, turn: Turn) -> list[Row]:
        self._losses.add_extra(turn.extra, within="messages")
        if turn.name is not None:
            self._losses.add("name")
        for part in turn.parts:
            self._record_losses(part)
        if turn.role == "assistant":
            message = self._assistant(turn.parts)
            if len(message) > 1:
                return [message]
            check_turn(turn)
            return []
        results = [self._result(part) for part in turn.parts if isinstance(part, ToolResult)]
        others = [part for part in turn.parts if not isinstance(part, ToolResult)]
        texts = self._texts(others)
        images: list[Row] = []
        documents = len(self.documents)
        for part in others:
            if not isinstance(part, Media):
                continue
            url = part.url
            if part.data is not None:
                url = f"data:{part.media_type or 'image/png'};base64,{part.data}"
            if part.kind == "image" and url is not None:
                # https://docs.cohere.com/docs/image-inputs
                image = {"url": url} if part.detail is None else {"url": url, "detail": part.detail}
                images.append({"type": "image_url", "image_url": image})
            elif part.text is not None:
                # Documents go beside the messages: https://docs.cohere.com/docs/retrieval-augmented-generation-rag
                number = DOCUMENT_ID.format(len(self.documents))
                self.documents.append({"id": number, "data": _document(part, part.text)})
            else:
                raise PartUnsupported(part.kind)
        content: str | list[Row] = _BETWEEN.join(texts)
        if images:
            content = [*({"type": "text", "text": text} for text in texts), *images]
        if content:
            return [*results, {"role": turn.role, "content": content}]
        if not results and len(self.documents) == documents:
            check_turn(turn)
        return results

    def _assistant(self, parts: Sequence[AnyPart]) -> Row:
        thinking = "".join(part.text for part in parts if isinstance(part, Reasoning))
        text = "".join(self._texts(parts))
        calls: list[Row] = []
        for part in parts:
            if isinstance(part, Media):
                self._losses.add(part.kind)
            elif isinstance(part, ToolCall):
                function = {"name": part.name, "arguments": _arguments(part.arguments)}
                calls.append({"id": part.id, "type": "function", "function": function})
        blocks: list[Row] = []
        # https://docs.cohere.com/docs/reasoning
        if thinking and self._thinks:
            blocks.append({"type": "thinking", "thinking": thinking})
            thinking = ""
        if thinking and not calls:
            self._losses.add("reasoning")
        message: Row = {"role": "assistant"}
        if calls:
            # Text beside calls goes into the plan: https://docs.cohere.com/docs/tool-use-overview
            message |= {"tool_plan": thinking + text} if thinking or text else {}
            message["tool_calls"] = calls
        elif text:
            blocks.append({"type": "text", "text": text})
        if blocks:
            message["content"] = blocks
        return message

    def _texts(self, parts: Iterable[AnyPart]) -> list[str]:
        return [part.text for part in parts if isinstance(part, Text | Refusal) and part.text]

    def _result(self, part: ToolResult) -> Row:
        if part.failed:
            self._losses.add("failed")
        blocks: list[Row] = []
        for piece in part.content:
            self._record_losses(piece)
            if isinstance(piece, Text):
                blocks += [{"type": "text", "text": piece.text}] if piece.text else []
            elif piece.text is not None:
                data = _document(piece, piece.text)
                blocks.append({"type": "document", "document": {"data": data}})
            else:
                raise PartUnsupported(piece.kind)
        is_plain = len(blocks) == 1 and "text" in blocks[0]
        # A tool message requires content: https://docs.cohere.com/reference/chat
        content = blocks[0]["text"] if is_plain else blocks or "{}"
        return {"role": "tool", "tool_call_id": part.call_id, "content": content}

    def _record_losses(self, part: AnyPart) -> None:
        """Record what a part carries that no message of Cohere's has a place for."""
        self._losses.add_extra(part.extra, within="content")
        if part.cache is not None:
            self._losses.add("cache_control")
        if part.signature is not None or (isinstance(part, Reasoning) and part.sealed is not None):
            self._losses.add("reasoning_signature")
        match part:
            case Text(citations=citations) if citations:
                self._losses.add("citations")
            case Refusal():
                self._losses.add("refusal")
            case Foreign():
                self._losses.add(f"part:{part.type}")


def _arguments(text: str) -> str:
    """Arguments must be the text of a JSON object; what is none stands in one, under ``input``."""
    if not text.strip():
        return "{}"
    try:
        _object.decode(text)
    except BROKEN:
        try:
            value: object = _raw.decode(text)
        except BROKEN:
            value = text
        return _encode({"input": value}).decode()
    return text


def _document(part: Media, text: str) -> Row:
    return {"text": text} if part.name is None else {"title": part.name, "text": text}
