"""Any vendor's reply, written whole as a chat completion."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Citation,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Reply,
    Text,
    ToolCall,
    seal_id,
)

from .._finish import write_finish
from .._members import DIALECT, encode, merge
from .._shared import known_tier, shared_members
from .._tools import custom_names, is_legacy, unwrap_custom_call
from .._usage import write_usage

_PREFIX = "chatcmpl-"
NO_SPEECH_ID = "audio"
"""Stands in an audio answer that its vendor gave no id, and so does not keep."""


def reply_id(text: str) -> str:
    """The id a client of this dialect expects, made from whatever the vendor's was."""
    return text if text[: len(_PREFIX)] == _PREFIX else _PREFIX + text


def write_reply(reply: Reply, request: Conversation, losses: Losses) -> bytes:
    """The object: https://platform.openai.com/docs/api-reference/chat/object."""
    is_own = reply.dialect == DIALECT
    choices: list[dict[str, Any]] = []
    for index, choice in enumerate(reply.choices):
        legacy = is_legacy(request.tools)
        members: dict[str, Any] = {
            "index": index,
            "message": _write_message(choice.parts, request, legacy, losses),
            "logprobs": choice.logprobs,
            "finish_reason": write_finish(choice.finish, choice.parts, legacy=legacy),
        }
        if is_own:
            merge(members, choice.extra)
        choices.append(members)
    body: dict[str, Any] = {
        "id": reply_id(reply.id),
        "object": "chat.completion",
        "created": reply.created or 0,
        "model": reply.model or request.model,
        "choices": choices,
    }
    if reply.usage is not None:
        body["usage"] = write_usage(reply.usage)
    if reply.extra:
        merge(body, known_tier(reply.extra) if is_own else shared_members(reply.extra))
    return encode(body)


def _write_message(
    parts: Sequence[AnyPart], request: Conversation, legacy: bool, losses: Losses
) -> dict[str, Any]:
    annotations: list[Any] = []
    text, apart = "", False
    for part in parts:
        if isinstance(part, Text):
            if text and apart and part.text:
                text += "\n\n"
            sources = (annotation(each, len(text), losses) for each in part.citations)
            annotations += (source for source in sources if source is not None)
            text += part.text
        apart = not isinstance(part, Text)
        if isinstance(part, Foreign):
            losses.add(f"part:{part.type}")
        elif isinstance(part, Text | Refusal | Media) and part.signature is not None:
            losses.add("reasoning_signature")
    calls = _write_calls(parts, request, losses)
    refusal = "".join(part.text for part in parts if isinstance(part, Refusal))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text or (None if calls or refusal else ""),
        "refusal": refusal or None,
    }
    thinking = "\n\n".join(part.text for part in parts if isinstance(part, Reasoning) and part.text)
    if thinking and not (text and is_hidden(request)):
        message["reasoning_content"] = thinking
    if annotations:
        message["annotations"] = annotations
    for part in parts:
        if not isinstance(part, Media):
            continue
        media = media_members(part)
        if media is None:
            losses.add(part.kind)
        elif part.kind == "audio":
            message["audio"] = media
        else:
            message.setdefault("images", []).append(media)
    if calls and legacy:
        # function_call has room for one call, and for a custom tool's text only as arguments.
        custom = calls[0].get("custom")
        message["function_call"] = (
            calls[0]["function"]
            if custom is None
            else {"name": custom["name"], "arguments": custom["input"]}
        )
        if len(calls) > 1:
            losses.add("parallel_tools")
    elif calls:
        message["tool_calls"] = calls
    return message


def is_hidden(request: Conversation) -> bool:
    """Whether the client does not want to see the thinking."""
    return request.thinking is not None and request.thinking.show is False


def annotation(citation: Citation, offset: int, losses: Losses) -> dict[str, Any] | Raw | None:
    """A source as an annotation; ``offset`` is where its part begins in the answer's text."""
    if citation.dialect == DIALECT and citation.raw is not None:
        return citation.raw
    if citation.url is None:
        losses.add("citations")
        return None
    start, end = citation.start or 0, citation.end or 0
    cited: dict[str, Any] = {
        "start_index": start + offset,
        "end_index": end + offset if end else start + offset,
        "title": citation.title or "",
        "url": citation.url,
    }
    if citation.quote:
        cited["content"] = citation.quote
    return {"type": "url_citation", "url_citation": cited}


def _write_calls(
    parts: Sequence[AnyPart], request: Conversation, losses: Losses
) -> list[dict[str, Any]]:
    """Tool calls, the first after some thinking with that thinking sealed in its id."""
    customs = custom_names(request.tools)
    pending: list[Reasoning] = []
    calls: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Reasoning):
            pending += sealable(part)
        elif isinstance(part, ToolCall):
            call_id = seal_id(part.id, part.origin, part.signature, pending)
            pending = []
            if part.name in customs and not part.custom:
                part = unwrap_custom_call(part)
            calls.append(call_members(call_id, part, part.arguments or "{}"))
    if pending:
        losses.add("reasoning_signature")
    return calls


def sealable(part: Reasoning) -> tuple[Reasoning, ...]:
    """Thinking that its vendor wants back, in the form that a tool call's id carries."""
    if part.signature is None and part.sealed is None:
        return ()
    return (replace(part, extra={}, cache=None),)


def call_members(call_id: str, call: ToolCall, text: str) -> dict[str, Any]:
    if call.custom:
        custom = {"name": call.name, "input": call.arguments}
        return {"id": call_id, "type": "custom", "custom": custom}
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": text},
    }


def media_members(part: Media) -> dict[str, Any] | None:
    """A picture or speech in an answer; other media have no place in this dialect."""
    if part.kind == "image" and (part.data is not None or part.url is not None):
        url = part.url or f"data:{part.media_type or 'image/png'};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if part.kind == "audio" and part.data is not None:
        audio: dict[str, Any] = {
            "id": part.file_id or NO_SPEECH_ID,
            "data": part.data,
            "transcript": part.text or "",
            "expires_at": 0,
        }
        return {**audio, **{name: raw for name, raw in part.extra.items() if name in audio}}
    return None
