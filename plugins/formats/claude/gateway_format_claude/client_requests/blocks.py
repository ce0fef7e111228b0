"""Reads a client's content blocks as the hub's parts.

https://docs.anthropic.com/en/api/messages#body-messages
"""

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    BadRequest,
    Citation,
    Foreign,
    Media,
    Text,
    ToolCall,
    ToolResult,
    unseal_id,
)

from .._citations import read_citation
from .._dialect import DIALECT, SEARCH_RESULT, Role, Unreadable, encode_raw
from .._thinking_proofs import read_data, read_signature
from .._tool_calls import drop_usual_caller
from .members import Members, is_text, read_blocks, read_members, read_text, take_breakpoint
from .sources import join_texts, read_document, read_image

_ROLE_OF: dict[str, Role] = {
    "tool_result": "user",
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}
"""The only role that each of these blocks can have."""
_IN_RESULTS = ("text", "image", "document", SEARCH_RESULT)


def read_content(content: Raw, role: Role, where: str) -> tuple[AnyPart, ...]:
    """A message's content, a string or a list of blocks. Raises BadRequest."""
    if is_text(content):
        return (Text(text=read_text(content, where)),)
    parts: list[AnyPart] = []
    for index, item in enumerate(read_blocks(content, where)):
        place = f"{where}.{index}"
        block = read_members(item, place)
        kind = block.needed_text("type")
        if kind in _ROLE_OF and role != _ROLE_OF[kind]:
            raise BadRequest(f"{place}: {kind} blocks can only be in {_ROLE_OF[kind]} messages")
        match kind:
            case "tool_use":
                parts += _read_call(block)
            case "tool_result":
                parts.append(_read_result(block))
            case "thinking":
                text = block.needed_text("thinking")
                part = read_signature(block.text("signature") or "", text)
                parts.append(replace(part, extra=block.rest()))
            case "redacted_thinking":
                proof = read_data(block.needed_text("data"))
                parts.append(replace(proof, extra=block.rest()))
            case _:
                # A block of an unknown type is kept whole, for a vendor of this dialect.
                shown = _read_shown(kind, block, item)
                parts.append(shown or Foreign(dialect=DIALECT, type=kind, raw=item))
    return tuple(parts)


def read_system(content: Raw, where: str) -> tuple[Text, ...]:
    """System text, a string or a list of text blocks; empty text is left out."""
    if is_text(content):
        text = read_text(content, where)
        return (Text(text=text),) if text else ()
    texts: list[Text] = []
    for index, item in enumerate(read_blocks(content, where)):
        block = read_members(item, f"{where}.{index}")
        if block.needed_text("type") != "text":
            raise BadRequest(f"{block.path('type')}: must be text")
        texts.append(_read_text_block(block))
    return tuple(texts)


def _read_shown(kind: str, block: Members, item: Raw) -> Text | Media | None:
    """A block that can also stand in a tool result; ``None`` for one that has no neutral form."""
    media: Media | None
    match kind:
        case "text":
            return _read_text_block(block)
        case "image":
            media = read_image(block.needed("source", block.members("source")))
        case "document":
            source = block.needed("source", block.take("source"))
            media = read_document(read_members(source, block.path("source")), source)
            if media is not None:
                media = replace(media, name=block.text("title"))
        case "search_result":
            content = block.needed("content", block.take("content"))
            return Media(
                kind="document",
                media_type="text/plain",
                text=join_texts(content, block.path("content")) or "",
                name=block.text("title"),
                extra={SEARCH_RESULT: item},
            )
        case _:
            return None
    if media is None:
        return None
    cache, extra = take_breakpoint(block)
    return replace(media, cache=cache, extra={**media.extra, **extra})


def _read_text_block(block: Members) -> Text:
    text = block.needed_text("text")
    citations: list[Citation] = []
    for index, item in enumerate(block.items("citations") or ()):
        try:
            citations.append(read_citation(item))
        except Unreadable:
            where = f"{block.path('citations')}.{index}"
            raise BadRequest(f"{where}: must be a citation") from None
    cache, extra = take_breakpoint(block)
    return Text(text=text, citations=tuple(citations), cache=cache, extra=extra)


def _read_call(block: Members) -> tuple[AnyPart, ...]:
    """A tool call, behind the thinking of another vendor that its id carries."""
    # This wire has no slot for a call's signature, so it was sealed into the id on the way out.
    call_id, origin, signature, thinking = unseal_id(block.needed_text("id"))
    name = block.needed_text("name")
    arguments = bytes(block.take("input") or encode_raw({}))
    try:
        text = arguments.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.startswith("{"):
        raise BadRequest(f"{block.path('input')}: must be an object")
    cache, extra = take_breakpoint(block)
    call = ToolCall(
        id=call_id,
        name=name,
        arguments=text,
        signature=signature,
        origin=origin,
        cache=cache,
        extra=drop_usual_caller(extra),
    )
    return (*(replace(part, origin=origin) for part in thinking), call)


def _read_result(block: Members) -> ToolResult:
    call_id = unseal_id(block.needed_text("tool_use_id"))[0]
    content = block.take("content")
    failed = block.flag("is_error") or False
    cache, extra = take_breakpoint(block)
    pieces: list[Text | Media] = []
    where = block.path("content")
    if content is not None and is_text(content):
        text = read_text(content, where)
        pieces = [Text(text=text)] if text else []
    elif content is not None:
        items = read_blocks(content, where)
        for index, item in enumerate(items):
            inner = read_members(item, f"{where}.{index}")
            kind = inner.needed_text("type")
            piece = _read_shown(kind, inner, item) if kind in _IN_RESULTS else None
            if piece is not None:
                pieces.append(piece)
        if len(pieces) < len(items):
            # Blocks without a neutral form reach a vendor of this dialect as they came.
            extra = {**extra, "content": content}
    return ToolResult(
        call_id=call_id, content=tuple(pieces), failed=failed, cache=cache, extra=extra
    )
