"""Read images, documents and audio in a message's content."""

from typing import Any

from gateway_core import BadRequest, Media

from .._dialect import BREAKPOINT, DIALECT
from .members import Members, missing

_SOUNDS = {"mp3": "audio/mpeg", "wav": "audio/wav"}
# https://platform.openai.com/docs/guides/prompt-caching
_LIFETIMES = {"12h": "1h"}
"""The vendor's two lifetimes to the hub's two: the usual one and the long one."""


def read_image(piece: Members) -> Media:
    url, file_id = piece.text("image_url"), piece.text("file_id")
    if url is None and file_id is None:
        raise missing(piece.place("image_url"))
    media_type, data = _split_data_url(url)
    return Media(
        kind="image",
        media_type=media_type,
        data=data,
        url=url if data is None else None,
        detail=piece.text("detail"),
        cache=read_cache(piece),
        **_name_file(file_id),
        extra=piece.rest(),
    )


def read_file(piece: Members) -> Media:
    held, url, file_id = piece.text("file_data"), piece.text("file_url"), piece.text("file_id")
    # https://platform.openai.com/docs/guides/pdf-files
    if held is None and url is None and file_id is None:
        place = piece.place()
        raise BadRequest(f"'{place}' needs one of file_data, file_url and file_id.", param=place)
    media_type, data = _split_data_url(held)
    return Media(
        kind="document",
        media_type=media_type,
        data=held if data is None else data,
        url=url,
        name=piece.text("filename"),
        detail=piece.text("detail"),
        cache=read_cache(piece),
        **_name_file(file_id),
        extra=piece.rest(),
    )


def read_sound(piece: Members) -> Media:
    sound = piece.inner("input_audio")
    if sound is None:
        raise missing(piece.place("input_audio"))
    data, form = sound.needed("data"), sound.text("format")
    media_type = None if form is None else _SOUNDS.get(form, f"audio/{form}")
    return Media(kind="audio", media_type=media_type, data=data, extra=piece.rest())


def read_cache(piece: Members) -> str | None:
    breakpoint_ = piece.inner(BREAKPOINT)
    return None if breakpoint_ is None else _LIFETIMES.get(breakpoint_.text("ttl") or "", "5m")


# RFC 2397; only base64 data is carried on.
def _split_data_url(url: str | None) -> tuple[str | None, str | None]:
    """Media type and base64 text of a data URL; nothing of any other address."""
    if url is None or not url.startswith("data:"):
        return None, None
    head, comma, data = url[5:].partition(",")
    if not comma or not head.endswith(";base64"):
        return None, None
    return head.removesuffix(";base64").partition(";")[0] or None, data


def _name_file(file_id: str | None) -> dict[str, Any]:
    return {} if file_id is None else {"file_id": file_id, "origin": f"~{DIALECT}"}
