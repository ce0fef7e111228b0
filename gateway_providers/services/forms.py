"""Multipart bodies (RFC 7578), written so that files stay where they are."""

from collections.abc import Iterable
from hashlib import blake2b
from secrets import token_bytes

from gateway_core import BodyParts, FileContent, FormPart

_SECRET = token_bytes(16)
"""Makes boundaries that no client can guess: a file that holds the boundary could add fields."""
_BREAKS = str.maketrans({"\r": "%0D", "\n": "%0A", '"': "%22"})
"""As WHATWG HTML, section 4.10.21.8, has names in a form."""


def write_form(parts: Iterable[FormPart]) -> tuple[BodyParts, str]:
    """The body of a form, and its media type. Equal forms have equal bodies in one process."""
    listed = tuple(parts)
    boundary = _boundary(listed)
    pieces: list[bytes | FileContent] = []
    for part in listed:
        pieces += (b"--" + boundary + b"\r\n" + _head(part), part.content, b"\r\n")
    pieces.append(b"--" + boundary + b"--\r\n")
    return BodyParts(tuple(pieces)), f"multipart/form-data; boundary={boundary.decode()}"


def field(name: str, value: str) -> FormPart:
    """A plain field."""
    return FormPart(name=name, content=value.encode())


def file_part(form: Iterable[FormPart], name: str = "file") -> FormPart | None:
    """The first file of a name."""
    return next((part for part in form if part.name == name and part.filename is not None), None)


def content_of(part: FormPart) -> bytes:
    """A part's content, in memory."""
    content = part.content
    return content if isinstance(content, bytes) else bytes(BodyParts((content,)))


def _head(part: FormPart) -> bytes:
    disposition = f'content-disposition: form-data; name="{part.name.translate(_BREAKS)}"'
    if part.filename is not None:
        disposition += f'; filename="{part.filename.translate(_BREAKS)}"'
    lines = [disposition]
    if part.media_type:
        lines.append(f"content-type: {part.media_type}")
    return "\r\n".join((*lines, "", "")).encode()


def _boundary(parts: Iterable[FormPart]) -> bytes:
    digest = blake2b(key=_SECRET, digest_size=16)
    for part in parts:
        digest.update(_head(part))
        content = part.content
        digest.update(content if isinstance(content, bytes) else str(content.size).encode())
    return b"gateway-" + digest.hexdigest().encode()
