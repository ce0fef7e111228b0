"""A client's content blocks to the hub's parts."""

from collections.abc import Callable

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

from .._cache_markers import read_marker
from .._citations import read_citation
from .._dialect import DIALECT, Extra, Role, Unreadable, raw
from .._members import Members, is_text, members, whole_list, whole_text
from .._sources import SEARCH_RESULT, read_document, read_image, source_text
from .._thinking_proofs import from_data, from_signature

_Read = Callable[[Members, Raw], tuple[AnyPart, ...]]


def read_content(content: Raw, role: Role, where: str) -> tuple[AnyPart, ...]:
    """A message's content, a string or a list of blocks. Raises BadRequest."""
    if is_text(content):
        return (Text(text=whole_text(content, where)),)
    parts: list[AnyPart] = []
    for index, item in enumerate(whole_list(content, where)):
        parts += _read_block(item, role, f"{where}.{index}")
    return tuple(parts)


def read_texts(content: Raw, where: str) -> tuple[Text, ...]:
    """System text, a string or a list of text blocks; empty text says nothing."""
    if is_text(content):
        text = whole_text(content, where)
        return (Text(text=text),) if text else ()
    texts: list[Text] = []
    for index, item in enumerate(whole_list(content, where)):
        block = members(item, f"{where}.{index}")
        if block.needed_text("type") != "text":
            raise BadRequest(f"{block.path('type')}: must be text")
        texts.append(_text(block))
    return tuple(texts)


def _read_block(item: Raw, role: Role, where: str) -> tuple[AnyPart, ...]:
    block = members(item, where)
    kind = block.needed_text("type")
    if kind in _ONLY_IN and role != _ONLY_IN[kind]:
        raise BadRequest(f"{where}: {kind} blocks can only be in {_ONLY_IN[kind]} messages")
    read = _READ.get(kind)
    return read(block, item) if read else (_foreign(kind, item),)


def _foreign(kind: str, item: Raw) -> Foreign:
    return Foreign(dialect=DIALECT, type=kind, raw=item)


def _text(block: Members) -> Text:
    text = block.needed_text("text")
    citations = tuple(
        _citation(item, f"{block.path('citations')}.{index}")
        for index, item in enumerate(block.items("citations") or ())
    )
    cache, extra = read_marker(block)
    return Text(text=text, citations=citations, cache=cache, extra=extra)


def _citation(item: Raw, where: str) -> Citation:
    try:
        return read_citation(item)
    except Unreadable:
        raise BadRequest(f"{where}: must be a citation") from None


def _read_text(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    return (_text(block),)


def _read_image(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    source = block.needed("source", block.members("source"))
    media = read_image(source)
    if media is None:
        return (_foreign("image", item),)
    return (_with_marks(media, block),)


def _read_document(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    whole = block.needed("source", block.take("source"))
    media = read_document(members(whole, block.path("source")), whole)
    if media is None:
        return (_foreign("document", item),)
    return (_with_marks(replace(media, name=block.text("title")), block),)


def _with_marks(media: Media, block: Members) -> Media:
    cache, extra = read_marker(block)
    return replace(media, cache=cache, extra={**media.extra, **extra})


def _read_search_result(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    content = block.needed("content", block.take("content"))
    text = source_text(content, block.path("content"))
    return (
        Media(
            kind="document",
            media_type="text/plain",
            text=text or "",
            name=block.text("title"),
            extra={SEARCH_RESULT: item},
        ),
    )


def _read_thinking(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    text = block.needed_text("thinking")
    part = from_signature(block.text("signature") or "", text)
    return (replace(part, extra=block.rest()),)


def _read_redacted(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    return (replace(from_data(block.needed_text("data")), extra=block.rest()),)


def _read_call(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    call_id, origin, signature, thinking = unseal_id(block.needed_text("id"))
    name = block.needed_text("name")
    arguments = block.take("input") or raw({})
    if bytes(memoryview(arguments)[:1]) != b"{":
        raise BadRequest(f"{block.path('input')}: must be an object")
    cache, extra = read_marker(block)
    call = ToolCall(
        id=call_id,
        name=name,
        arguments=_decoded(arguments, block.path("input")),
        signature=signature,
        origin=origin,
        cache=cache,
        extra=without_usual_caller(extra),
    )
    return (*(replace(part, origin=origin) for part in thinking), call)


def _decoded(arguments: Raw, where: str) -> str:
    try:
        return bytes(arguments).decode()
    except UnicodeDecodeError:
        raise BadRequest(f"{where}: must be an object") from None


def without_usual_caller(extra: Extra) -> Extra:
    """A call that the model makes directly is the usual one and needs no saying."""
    caller = extra.get("caller")
    if caller is None or bytes(caller).replace(b" ", b"") != b'{"type":"direct"}':
        return extra
    return {name: value for name, value in extra.items() if name != "caller"}


def _read_result(block: Members, item: Raw) -> tuple[AnyPart, ...]:
    call_id = unseal_id(block.needed_text("tool_use_id"))[0]
    content = block.take("content")
    failed = block.flag("is_error") or False
    cache, extra = read_marker(block)
    pieces: tuple[Text | Media, ...] = ()
    if content is not None:
        pieces, faithful = _result_content(content, block.path("content"))
        extra = extra if faithful else {**extra, "content": content}
    return (ToolResult(call_id=call_id, content=pieces, failed=failed, cache=cache, extra=extra),)


def _result_content(content: Raw, where: str) -> tuple[tuple[Text | Media, ...], bool]:
    """The result's text and media, and whether they are all there is."""
    if is_text(content):
        text = whole_text(content, where)
        return ((Text(text=text),) if text else ()), True
    pieces: list[Text | Media] = []
    faithful = True
    for index, item in enumerate(whole_list(content, where)):
        block = members(item, f"{where}.{index}")
        read = _READ_IN_RESULT.get(block.needed_text("type"))
        parts = read(block, item) if read else ()
        shown = [part for part in parts if isinstance(part, Text | Media)]
        pieces += shown
        faithful = faithful and bool(shown)
    return tuple(pieces), faithful


_READ_IN_RESULT: dict[str, _Read] = {
    "text": _read_text,
    "image": _read_image,
    "document": _read_document,
    SEARCH_RESULT: _read_search_result,
}
_READ: dict[str, _Read] = {
    **_READ_IN_RESULT,
    "thinking": _read_thinking,
    "redacted_thinking": _read_redacted,
    "tool_use": _read_call,
    "tool_result": _read_result,
}
_ONLY_IN: dict[str, Role] = {
    "tool_result": "user",
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}
