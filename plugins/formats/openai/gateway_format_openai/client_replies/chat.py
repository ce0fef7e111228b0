"""Any vendor's reply, written whole as a chat completion."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    Choice,
    Citation,
    Conversation,
    Finish,
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
from .._tools import custom_names, is_legacy, unwrapped
from .._usage import write_usage

_PREFIX = "chatcmpl-"

NO_SPEECH_ID = "audio"
"""Stands in spoken words that their vendor gave no id, and so does not keep."""

_PLAIN = (
    b'{"id":%b,"object":"chat.completion","created":%d,"model":%b,"choices":[{"index":0,'
    b'"message":{"role":"assistant","content":%b,"refusal":null},'
    b'"logprobs":null,"finish_reason":%b}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,'
    b'"prompt_tokens_details":{"cached_tokens":%d},'
    b'"completion_tokens_details":{"reasoning_tokens":%d}}}'
)

_ENDS: Mapping[Finish, bytes] = {"stop": b'"stop"', "length": b'"length"'}
"""How an answer of words usually ends."""


def reply_id(text: str) -> str:
    """The id a client of this dialect expects, made from whatever the vendor's was."""
    return text if text[: len(_PREFIX)] == _PREFIX else _PREFIX + text


def write_reply(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    return _plainly(reply, asked) or _with_more(reply, asked, losses)


def _plainly(reply: Reply, asked: Conversation) -> bytes:
    """An answer of one text, as most are, which loses nothing; empty for any other."""
    usage = reply.usage
    if usage is None or usage.cache_write_tokens or reply.extra or len(reply.choices) != 1:
        return b""
    choice = reply.choices[0]
    word = _ENDS.get(choice.finish)
    if word is None or choice.extra or choice.logprobs is not None or len(choice.parts) != 1:
        return b""
    part = choice.parts[0]
    if not is_plain(part):
        return b""
    return _PLAIN % (
        encode(reply_id(reply.id)),
        reply.created or 0,
        encode(reply.model or asked.model),
        encode(part.text),
        word,
        usage.input_tokens,
        usage.output_tokens,
        usage.input_tokens + usage.output_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
    )


def _with_more(reply: Reply, asked: Conversation, losses: Losses) -> bytes:
    body: dict[str, Any] = {
        "id": reply_id(reply.id),
        "object": "chat.completion",
        "created": reply.created or 0,
        "model": reply.model or asked.model,
        "choices": [
            _choice(index, choice, reply.dialect, asked, losses)
            for index, choice in enumerate(reply.choices)
        ],
    }
    if reply.usage is not None:
        body["usage"] = write_usage(reply.usage)
    if reply.extra:
        own = reply.dialect == DIALECT
        merge(body, known_tier(reply.extra) if own else shared_members(reply.extra))
    return encode(body)


def _choice(
    index: int, choice: Choice, dialect: str, asked: Conversation, losses: Losses
) -> dict[str, Any]:
    legacy = is_legacy(asked.tools)
    written: dict[str, Any] = {
        "index": index,
        "message": _message(choice.parts, asked, legacy, losses),
        "logprobs": choice.logprobs,
        "finish_reason": write_finish(choice.finish, choice.parts, legacy=legacy),
    }
    if dialect == DIALECT:
        merge(written, choice.extra)
    return written


def _message(
    parts: Sequence[AnyPart], asked: Conversation, legacy: bool, losses: Losses
) -> dict[str, Any]:
    if len(parts) == 1 and is_plain(parts[0]):
        return {"role": "assistant", "content": parts[0].text, "refusal": None}
    text, annotations = spoken(parts, losses)
    calls = _calls(parts, asked, losses)
    refusal = "".join(part.text for part in parts if isinstance(part, Refusal))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text or (None if calls or refusal else ""),
        "refusal": refusal or None,
    }
    thinking = "\n\n".join(part.text for part in parts if isinstance(part, Reasoning) and part.text)
    if thinking and not (text and is_hidden(asked)):
        message["reasoning_content"] = thinking
    if annotations:
        message["annotations"] = annotations
    _write_media(message, parts, losses)
    if calls and legacy:
        message["function_call"] = _older(calls[0])
        if len(calls) > 1:
            losses.add("parallel_tools")
    elif calls:
        message["tool_calls"] = calls
    return message


def is_plain(part: AnyPart) -> TypeGuard[Text]:
    """Whether a part is a text of which only the words are to be told."""
    return type(part) is Text and not part.citations and part.signature is None


def is_hidden(asked: Conversation) -> bool:
    """Whether the client does not want to see the thinking."""
    return asked.thinking is not None and asked.thinking.show is False


def spoken(parts: Sequence[AnyPart], losses: Losses) -> tuple[str, list[Any]]:
    """The text of an answer, and its sources with their places in that text."""
    annotations: list[Any] = []
    text, apart = "", False
    for part in parts:
        if isinstance(part, Text):
            if text and apart and part.text:
                text += "\n\n"
            for citation in part.citations:
                written = annotation(citation, len(text), losses)
                if written is not None:
                    annotations.append(written)
            text += part.text
        apart = not isinstance(part, Text)
        if apart or part.signature is not None:
            _note_lost(part, losses)
    return text, annotations


def _note_lost(part: AnyPart, losses: Losses) -> None:
    if isinstance(part, Foreign):
        losses.add(f"part:{part.type}")
    elif isinstance(part, Text | Refusal | Media) and part.signature is not None:
        losses.add("reasoning_signature")


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


def _calls(parts: Sequence[AnyPart], asked: Conversation, losses: Losses) -> list[dict[str, Any]]:
    """Tool calls, the first after some thinking with that thinking sealed in its id."""
    customs = custom_names(asked.tools)
    pending: list[Reasoning] = []
    calls: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Reasoning):
            pending += sealable(part)
        elif isinstance(part, ToolCall):
            call_id = seal_id(part.id, part.origin, part.signature, pending)
            pending = []
            if part.name in customs and not part.custom:
                part = unwrapped(part)
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
        written = {"name": call.name, "input": call.arguments}
        return {"id": call_id, "type": "custom", "custom": written}
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": text},
    }


def _older(call: dict[str, Any]) -> Any:
    """A call as older clients know it, who have no other word for the text of a custom one."""
    custom = call.get("custom")
    if custom is None:
        return call["function"]
    return {"name": custom["name"], "arguments": custom["input"]}


def _write_media(message: dict[str, Any], parts: Sequence[AnyPart], losses: Losses) -> None:
    for part in parts:
        if not isinstance(part, Media):
            continue
        written = media_members(part)
        if written is None:
            losses.add(part.kind)
        elif part.kind == "audio":
            message["audio"] = written
        else:
            message.setdefault("images", []).append(written)


def media_members(part: Media) -> dict[str, Any] | None:
    """A picture or spoken words in an answer; other media have no place in this dialect."""
    if part.kind == "image" and (part.data is not None or part.url is not None):
        url = part.url or f"data:{part.media_type or 'image/png'};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if part.kind == "audio" and part.data is not None:
        written: dict[str, Any] = {
            "id": part.file_id or NO_SPEECH_ID,
            "data": part.data,
            "transcript": part.text or "",
            "expires_at": 0,
        }
        return {**written, **{name: raw for name, raw in part.extra.items() if name in written}}
    return None
