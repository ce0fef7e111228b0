"""The hub's turns to messages for the local model server.

A message is one text with images beside it, then thinking and calls; so parts
are gathered by sort, and results of tools become messages of their own, ahead
of what the user says in the same turn.
"""

from collections.abc import Iterable, Mapping, Sequence
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
from gateway_formats.instructions import take_from_text
from gateway_formats.whole_turns import check_turn

from .._arguments import as_object
from .._media_types import split_data_url

Extra = Mapping[str, Raw]
Message = dict[str, Any]

_members = msgspec.json.Decoder(dict[str, Raw]).decode

_BETWEEN = "\n\n"
"""Between texts that a client kept apart; the server itself joins messages so."""


def write_messages(conversation: Conversation, dialect: str, losses: Losses) -> list[Message]:
    writer = _Writer(conversation, dialect, losses)
    messages = writer.instructions(conversation.instructions)
    for turn in conversation.turns:
        messages += writer.turn(turn)
    return messages


class _Writer:
    def __init__(self, conversation: Conversation, dialect: str, losses: Losses) -> None:
        self._own = conversation.dialect == dialect
        self._losses = losses
        self._names: dict[str, str] = {}

    def instructions(self, texts: Iterable[Text]) -> list[Message]:
        contents: list[str] = []
        members: dict[str, Raw] = {}
        for text in texts:
            contents += (text.text,) if text.text else ()
            if self._own:
                text, carried = take_from_text(text)
                members |= carried
            self._record_losses(text)
        if not contents:
            return []
        return [{"role": "system", "content": _BETWEEN.join(contents), **members}]

    def turn(self, turn: Turn) -> list[Message]:
        """The messages of a turn; none when nothing of it could be expressed."""
        messages = [self._result(part) for part in turn.parts if isinstance(part, ToolResult)]
        others = [part for part in turn.parts if not isinstance(part, ToolResult)]
        if others or not messages:
            message = self._message(turn.role, others)
            if len(message) > 2 or message["content"] or not turn.parts:
                messages.append(message)
        if not messages:
            check_turn(turn)
        if turn.name is not None:
            self._losses.add("name")
        if messages:
            self._extend(messages[-1], turn.extra)
        if not self._own:
            self._losses.add_extra(turn.extra, within="messages")
        return messages

    def _message(self, role: str, parts: Sequence[AnyPart]) -> Message:
        between = "" if role == "assistant" else _BETWEEN
        message: Message = {"role": role, "content": ""}
        texts = [text for part in parts for text in self._texts(part)]
        message["content"] = between.join(texts)
        thoughts = [part for part in parts if isinstance(part, Reasoning)]
        for thought in thoughts:
            self._record_losses(thought)
        if thinking := "".join(thought.text for thought in thoughts):
            message["thinking"] = thinking
        media = [part for part in parts if isinstance(part, Media)]
        if images := self._images(media, is_attached=role != "assistant"):
            message["images"] = images
        calls: list[Message] = []
        for part in parts:
            if isinstance(part, ToolCall):
                self._record_losses(part)
                self._names[part.id] = part.name
                function = {"name": part.name, "arguments": as_object(part.arguments)}
                call: Message = {"id": part.id, "function": function}
                self._extend(call, part.extra)
                calls.append(call)
        if calls:
            message["tool_calls"] = calls
        return message

    def _result(self, part: ToolResult) -> Message:
        self._record_losses(part)
        if part.failed:
            self._losses.add("failed")
        texts = [text for piece in part.content for text in self._texts(piece)]
        message: Message = {"role": "tool", "content": _BETWEEN.join(texts)}
        media = [piece for piece in part.content if isinstance(piece, Media)]
        if images := self._images(media, is_attached=True):
            message["images"] = images
        # A result names its tool, not its call: https://github.com/ollama/ollama/blob/main/docs/api.md#chat-request-with-history-with-tools
        if name := part.name or self._names.get(part.call_id):
            message["tool_name"] = name
        message["tool_call_id"] = part.call_id
        self._extend(message, part.extra)
        return message

    def _texts(self, part: AnyPart) -> Iterable[str]:
        """The words of a part that this dialect can only say as plain text."""
        match part:
            case Text():
                self._record_losses(part)
                if part.citations:
                    self._losses.add("citations")
                return (part.text,) if part.text else ()
            case Refusal():
                self._record_losses(part)
                self._losses.add("refusal")
                return (part.text,) if part.text else ()
            case Foreign():
                self._losses.add(f"part:{part.type}")
            case Media(text=str(text)):
                return (f"{part.name}\n{text}" if part.name else text,)
        return ()

    def _images(self, parts: Iterable[Media], *, is_attached: bool) -> list[str]:
        """Base64 images; the server takes nothing else.

        Raises PartUnsupported for a medium that a user or a tool has attached.
        """
        images: list[str] = []
        for part in parts:
            self._record_losses(part)
            # images are base64 without a data URL's head: https://github.com/ollama/ollama/blob/main/docs/api.md#chat-request-with-images
            data = part.data or None
            if data is None and part.url is not None and part.url.startswith("data:"):
                data = split_data_url(part.url)[1]
            if part.kind == "image" and data is not None:
                images.append(data)
            elif part.text is None:
                if is_attached:
                    raise PartUnsupported(part.kind)
                self._losses.add(part.kind)
            if part.detail is not None:
                self._losses.add("detail")
        return images

    def _record_losses(self, part: AnyPart) -> None:
        """Record what any part may carry and this dialect has no place for."""
        if part.cache is not None:
            self._losses.add("cache_control")
        if part.signature is not None or (isinstance(part, Reasoning) and part.sealed is not None):
            self._losses.add("reasoning_signature")
        is_kept = self._own and isinstance(part, ToolCall | ToolResult)
        if not is_kept:
            self._losses.add_extra(part.extra, within="content")

    def _extend(self, message: Message, extra: Extra) -> None:
        if self._own:
            extend(message, extra)


def extend(message: Message, extra: Extra) -> None:
    """Put members back where they stood; those of an inner object go into that object."""
    for name, raw in extra.items():
        inner = message.get(name)
        message[name] = {**inner, **_members(raw)} if isinstance(inner, dict) else raw
