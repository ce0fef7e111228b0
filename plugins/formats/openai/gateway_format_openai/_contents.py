"""The content of a message as a client or vendor writes it, read into parts."""

from collections.abc import Callable

from msgspec import Raw

from gateway_core import AnyPart, Citation, Foreign, Media, Reasoning, Refusal, Text

from ._members import (
    DIALECT,
    Members,
    anything_of,
    first,
    invalid,
    is_list,
    is_object,
    is_text,
    items_of,
    keep_rest,
    object_of,
    rest,
    take,
    take_object,
    take_text,
    text_of,
)

OWN = f"~{DIALECT}"
"""The origin of a signature or file id that a client brought in this dialect."""

# input_audio names a format, wav or mp3: https://platform.openai.com/docs/guides/audio
_MEDIA_TYPES = {"mp3": "audio/mpeg"}

_SOUNDS = {
    "UklGR": "audio/wav",
    "SUQz": "audio/mpeg",
    # A frame of MPEG audio without a tag begins with 0xFFFB, 0xFFF3 or 0xFFF2.
    **dict.fromkeys(("//s", "//t", "//u", "//v", "//M", "//N", "//O", "//P"), "audio/mpeg"),
    **dict.fromkeys(("//I", "//J", "//K", "//L"), "audio/mpeg"),
    "T2dnU": "audio/ogg",
    "ZkxhQ": "audio/flac",
}
"""How the base64 of each kind of sound begins."""


def read_content(raw: Raw | None, where: str) -> tuple[AnyPart, ...]:
    """A string, or an array of parts. Raises BadRequest for anything else."""
    if raw is None or first(raw) == b"n":
        return ()
    if is_text(raw):
        text = text_of(raw, where)
        return (Text(text=text),) if text else ()
    if not is_list(raw):
        raise invalid(where, "must be a string or an array of parts")
    parts: list[AnyPart] = []
    for index, item in enumerate(items_of(raw, where)):
        place = f"{where}[{index}]"
        if is_text(item):
            parts.append(Text(text=text_of(item, place)))
            continue
        members = object_of(item, place)
        kind = take_text(members, "type", f"{place}.")
        if kind is None and "text" in members:
            kind = "text"
        if kind is None:
            raise invalid(f"{place}.type", "is missing")
        read = _READERS.get(kind)
        part = read(members, place) if read else Foreign(dialect=DIALECT, type=kind, raw=item)
        parts.append(part)
    return tuple(parts)


def take_cache(members: Members) -> str | None:
    """The lifetime of a prompt-cache breakpoint, ``5m`` unless one is named."""
    raw = members.get("cache_control")
    if raw is None or not is_object(raw):
        return None
    del members["cache_control"]
    return "1h" if take_text(object_of(raw, "cache_control"), "ttl") == "1h" else "5m"


def _read_text(members: Members, where: str) -> Text:
    text = take_text(members, "text", f"{where}.")
    if text is None:
        raise invalid(f"{where}.text", "is missing")
    citations = read_citations(take(members, "annotations"))
    cache = take_cache(members)
    return Text(text=text, citations=citations, cache=cache, extra=rest(members))


def _read_refusal(members: Members, where: str) -> Refusal:
    text = take_text(members, "refusal", f"{where}.") or ""
    return Refusal(text=text, cache=take_cache(members), extra=rest(members))


def _read_image(members: Members, where: str) -> Media:
    url, leftover = _take_address(members, "image_url", where)
    detail = take_text(leftover, "detail", f"{where}.image_url.")
    detail = detail or take_text(members, "detail", f"{where}.")
    file_id = take_text(members, "file_id", f"{where}.")
    if not url and not file_id:
        raise invalid(f"{where}.image_url.url", "is missing")
    keep_rest(members, "image_url", leftover)
    media_type, data = split_data_url(url)
    return Media(
        kind="image",
        media_type=media_type,
        data=data,
        url=None if data is not None else url,
        file_id=file_id,
        origin=OWN if file_id else "",
        detail=detail,
        cache=take_cache(members),
        extra=rest(members),
    )


def _take_address(members: Members, name: str, where: str) -> tuple[str | None, Members]:
    """An address that stands alone or as ``url`` in an object, and what else the object holds."""
    raw = take(members, name)
    if raw is None:
        return None, {}
    if is_text(raw):
        return text_of(raw, f"{where}.{name}"), {}
    leftover = object_of(raw, f"{where}.{name}")
    return take_text(leftover, "url", f"{where}.{name}."), leftover


def image_at(url: str, detail: str | None) -> Media:
    """An image that has nothing but an address."""
    media_type, data = split_data_url(url)
    shown = None if data is not None else url
    return Media(kind="image", media_type=media_type, data=data, url=shown, detail=detail)


def split_data_url(url: str | None) -> tuple[str | None, str | None]:
    """The media type and base64 of a data URL; ``(None, None)`` for any other address."""
    if url is None or not url.startswith("data:"):
        return None, None
    head, comma, data = url.partition(",")
    kind, _, encoding = head[5:].partition(";")
    if not comma or not encoding.endswith("base64"):
        return None, None
    return kind or None, data


def _read_audio(members: Members, where: str) -> Media:
    raw = take(members, "input_audio")
    if raw is None:
        raise invalid(f"{where}.input_audio", "is missing")
    if is_text(raw):
        # Some vendors take an address or plain base64 where others take an object.
        text = text_of(raw, where)
        cache = take_cache(members)
        if text.startswith(("http://", "https://")):
            return Media(kind="audio", url=text, cache=cache, extra=rest(members))
        # A data URL, or else base64 as it is, whose first bytes say what it is.
        media_type, data = split_data_url(text)
        media_type = media_type or _sound_type(data or text)
        return Media(
            kind="audio", media_type=media_type, data=data or text, cache=cache, extra=rest(members)
        )
    audio = object_of(raw, f"{where}.input_audio")
    data = take_text(audio, "data", f"{where}.input_audio.")
    if data is None:
        raise invalid(f"{where}.input_audio.data", "is missing")
    word = take_text(audio, "format", f"{where}.input_audio.")
    keep_rest(members, "input_audio", audio)
    media_type = _MEDIA_TYPES.get(word, f"audio/{word}") if word else None
    cache = take_cache(members)
    return Media(kind="audio", media_type=media_type, data=data, cache=cache, extra=rest(members))


def _sound_type(data: str) -> str | None:
    """The media type of base64 sound, where its first bytes tell."""
    return next((kind for start, kind in _SOUNDS.items() if data.startswith(start)), None)


def _read_video(members: Members, where: str) -> Media:
    url, leftover = _take_address(members, "video_url", where)
    if not url:
        raise invalid(f"{where}.video_url.url", "is missing")
    keep_rest(members, "video_url", leftover)
    media_type, data = split_data_url(url)
    return Media(
        kind="video",
        media_type=media_type,
        data=data,
        url=None if data is not None else url,
        cache=take_cache(members),
        extra=rest(members),
    )


def _read_file(members: Members, where: str) -> Media:
    """``file`` holds its members in an object; ``input_file`` holds them itself."""
    file = take_object(members, "file", f"{where}.")
    holder = members if file is None else file
    name = take_text(holder, "filename", f"{where}.")
    file_id = take_text(holder, "file_id", f"{where}.")
    source = take_text(holder, "file_data", f"{where}.") or take_text(
        holder, "file_url", f"{where}."
    )
    if file is not None:
        keep_rest(members, "file", file)
    if not file_id and not source:
        raise invalid(f"{where}.file", "must have file_data or file_id")
    return _document(members, source, name=name, file_id=file_id)


def _read_document_url(members: Members, where: str) -> Media:
    url, leftover = _take_address(members, "document_url", where)
    keep_rest(members, "document_url", leftover)
    if not url:
        raise invalid(f"{where}.document_url", "is missing")
    return _document(members, url, name=take_text(members, "document_name", f"{where}."))


def _read_file_url(members: Members, where: str) -> Media:
    url, leftover = _take_address(members, "file_url", where)
    keep_rest(members, "file_url", leftover)
    if not url:
        raise invalid(f"{where}.file_url.url", "is missing")
    return _document(members, url, name=take_text(members, "file_name", f"{where}."))


def _document(
    members: Members, source: str | None, *, name: str | None = None, file_id: str | None = None
) -> Media:
    """A document from an address, a data URL or bare base64, whichever it is."""
    media_type, data = split_data_url(source)
    is_address = source is not None and source.startswith(("http://", "https://"))
    if data is None and not is_address:
        data = source
    return Media(
        kind="document",
        media_type=media_type,
        data=data,
        url=source if is_address else None,
        name=name,
        file_id=file_id,
        origin=OWN if file_id else "",
        cache=take_cache(members),
        extra=rest(members),
    )


def _read_thinking(members: Members, where: str) -> Reasoning:
    """One vendor of this dialect puts thinking among the content, as a list of texts."""
    raw = take(members, "thinking")
    pieces = anything_of(raw) if raw is not None else None
    signature = take_text(members, "signature", f"{where}.")
    members.pop("closed", None)  # marks thinking that is whole, as all that is sent back is
    return Reasoning(
        text=thinking_text(pieces),
        signature=signature,
        origin=OWN if signature else "",
        cache=take_cache(members),
        extra=rest(members),
    )


def thinking_text(pieces: object) -> str:
    """The words of a thinking piece: a string, or a list of text pieces."""
    if isinstance(pieces, str):
        return pieces
    if not isinstance(pieces, list):
        return ""
    texts = (piece.get("text") for piece in pieces if isinstance(piece, dict))
    return "".join(text for text in texts if isinstance(text, str))


def read_citations(raw: Raw | None) -> tuple[Citation, ...]:
    """The sources among a list of annotations; other annotations are left out."""
    if raw is None or not is_list(raw):
        return ()
    citations = (read_citation(item) for item in items_of(raw, "annotations"))
    return tuple(citation for citation in citations if citation is not None)


def read_citation(raw: Raw) -> Citation | None:
    value = anything_of(raw)
    cited = value.get("url_citation") if isinstance(value, dict) else None
    if not isinstance(cited, dict) or not isinstance(cited.get("url"), str):
        return None
    start, end = cited.get("start_index"), cited.get("end_index")
    spans = type(start) is int and type(end) is int and 0 <= start < end
    return Citation(
        url=cited["url"],
        title=_words(cited.get("title")),
        quote=_words(cited.get("content")),
        start=start if spans else None,
        end=end if spans else None,
        raw=raw,
        dialect=DIALECT,
    )


def _words(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_READERS: dict[str, Callable[[Members, str], AnyPart]] = {
    "text": _read_text,
    # Clients mix in the Responses API's names of these parts.
    "input_text": _read_text,
    "output_text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
    "input_image": _read_image,
    "input_audio": _read_audio,
    "video_url": _read_video,
    "file": _read_file,
    "input_file": _read_file,
    "document_url": _read_document_url,
    "file_url": _read_file_url,
    "thinking": _read_thinking,
}
