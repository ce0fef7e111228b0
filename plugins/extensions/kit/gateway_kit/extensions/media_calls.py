"""Calls for pictures and sound: forms with files, as an interceptor sees and as clients send them.

Multipart bodies are written as RFC 7578 has them.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Call, FormPart, Kind
from gateway_kit.providers.services.files import OnDisk

from .media_vendor import ID, LISTENER, PAINTER, SPEAKER

FORMAT = "gateway-services"
EVERY_BYTE = bytes(range(256))
PICTURE = b"\x89PNG\r\n\x1a\n" + EVERY_BYTE
SOUND = b"RIFF\xff\xff\xff\xffWAVEfmt " + EVERY_BYTE[::-1]
PROMPT = "Paint a red dot of 4711"
BOUNDARY = "kit-4711-boundary"
FORM = f"multipart/form-data; boundary={BOUNDARY}"


def edit(words: str, *, on_disk: bool = False) -> tuple[FormPart, ...]:
    """A picture that is to be changed, with one field that comes twice."""
    picture: Any = OnDisk(PICTURE) if on_disk else PICTURE
    return (
        FormPart(name="model", content=f"{ID}/{PAINTER}".encode()),
        FormPart(name="image", content=picture, filename="Grüße 4711.png", media_type="image/png"),
        FormPart(name="prompt", content=f"{PROMPT} {words}".strip().encode()),
        FormPart(name="kit_field[]", content=b"one4711"),
        FormPart(name="kit_field[]", content=b"two4712"),
        FormPart(name="mask", content=PICTURE[::-1], filename="mask.png", media_type="image/png"),
    )


def upload(words: str, *, on_disk: bool = False) -> tuple[FormPart, ...]:
    """Sound that is to be written down."""
    sound: Any = OnDisk(SOUND) if on_disk else SOUND
    return (
        FormPart(name="file", content=sound, filename="said.wav", media_type="audio/wav"),
        FormPart(name="model", content=f"{ID}/{LISTENER}".encode()),
        FormPart(name="prompt", content=f"{PROMPT} {words}".strip().encode()),
    )


def form_calls(words: str) -> Iterator[tuple[str, Call]]:
    """What an interceptor gets for a form; ``words`` may make it act."""
    for on_disk in (False, True):
        where = "on disk" if on_disk else "in memory"
        for kind, action, model, parts in (
            (Kind.IMAGE, "edit", PAINTER, edit(words, on_disk=on_disk)),
            (Kind.TRANSCRIPTION, "", LISTENER, upload(words, on_disk=on_disk)),
        ):
            call = _call(kind, model, b"", members_of(parts), action=action, form=parts)
            yield f"a form for {kind} with its files {where}", call


def json_calls(words: str) -> Iterator[tuple[str, Call]]:
    """Bodies of JSON that hold no messages."""
    for kind, model, name in ((Kind.SPEECH, SPEAKER, "input"), (Kind.IMAGE, PAINTER, "prompt")):
        body = msgspec.json.encode({"model": f"{ID}/{model}", name: f"{PROMPT} {words}".strip()})
        members = msgspec.json.decode(body, type=dict[str, Raw])
        yield f"a call for {kind}", _call(kind, model, body, members)


def _call(kind: str, model: str, body: bytes, members: Any, **more: Any) -> Call:
    media = FORM if more.get("form") else "application/json"
    return Call(
        kind=kind,
        format=FORMAT,
        model=f"{ID}/{model}",
        stream=False,
        body=body,
        members=members,
        headers={"content-type": media},
        reader=lambda call: None,
        **more,
    )


def members_of(parts: tuple[FormPart, ...]) -> dict[str, Raw]:
    """Plain fields as JSON strings, the last of one name."""
    return {
        part.name: Raw(msgspec.json.encode(content_of(part).decode()))
        for part in parts
        if part.filename is None
    }


def content_of(part: FormPart) -> bytes:
    if isinstance(part.content, bytes):
        return part.content
    return part.content.read(0, part.content.size)


def multipart(parts: tuple[FormPart, ...]) -> bytes:
    """The body that a client sends."""
    lines = []
    for part in parts:
        head = f'Content-Disposition: form-data; name="{part.name}"'
        if part.filename is not None:
            head += f'; filename="{part.filename}"\r\nContent-Type: {part.media_type}'
        lines.append(f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content_of(part) + b"\r\n")
    return b"".join(lines) + f"--{BOUNDARY}--\r\n".encode()
