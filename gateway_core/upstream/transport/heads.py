"""A request as it goes out: its head as bytes, its body, and what to expect of the answer."""

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from ...contracts.exchange import PIECE, BodyParts, Lasting, UpstreamRequest
from .failures import MalformedRequest
from .limits import TransportLimits
from .urls import Url

OWN = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Fields of a connection or of the framing (RFC 9110 section 7.6.1), which the transport writes
itself or never uses; callers' ones are left out."""

WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
"""Methods whose empty body is not announced: RFC 9110 section 8.6."""

USER_AGENT = "user-agent: model-gateway\r\n"
"""Some vendors' firewalls refuse a request without one."""

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
UNSPEAKABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class RequestBytes(Struct, frozen=True):
    """One request, ready for the wire."""

    head: bytes
    body: bytes | BodyParts
    """In parts only where it is longer than ``PIECE``."""
    patience: float
    """Seconds until the head of the answer."""
    silence: float
    """Seconds between two pieces of its body."""
    bodiless: bool
    """The answer describes a body and has none."""


def write(request: UpstreamRequest, url: Url, limits: TransportLimits) -> RequestBytes:
    """Put a request into its bytes. Raises MalformedRequest."""
    method = request.method
    body: bytes | BodyParts = request.body
    if request.parts is not None:
        body = request.parts if len(request.parts) > PIECE else bytes(request.parts)
    patience, silence = request.first_byte_timeout, request.silence_timeout
    if patience is None:
        patience = limits.whole if request.whole else limits.first_byte
    if silence is None:
        silence = limits.whole if request.whole else limits.silence
    return RequestBytes(
        write_head(method, url.line, request.headers, len(body)),
        body,
        patience,
        silence,
        method == "HEAD",
    )


def write_head(method: str, line: str, headers: Mapping[str, str], length: int) -> bytes:
    """The request line and fields, with the empty line that ends them.

    ``line`` is the URL's. Raises MalformedRequest.
    """
    if type(headers) is not Lasting:
        head = _written(method, line, headers)
    else:
        written_for, at, head = headers.written
        if written_for != method or at != line:
            head = _written(method, line, headers)
            headers.written = (method, line, head)
    if length or method not in WITHOUT_BODY:
        return head + f"content-length: {length}\r\n\r\n".encode()
    return head + b"\r\n"


def _written(method: str, line: str, headers: Mapping[str, str]) -> bytes:
    """A head without the length of its body and its end."""
    parts = [opening(method), line]
    for name, value in headers.items():
        label = label_of(name)
        # Cheaper than the pattern; few values hold a tab or anything else that is not printable.
        if not value.isprintable():
            check_value(value)
        if label:
            parts += (label, value, "\r\n")
    if "user-agent" not in headers:
        parts.append(USER_AGENT)
    # Without the field a server may choose any coding: RFC 9110 section 12.5.3.
    if "accept-encoding" not in headers:
        parts.append("accept-encoding: identity\r\n")
    try:
        return "".join(parts).encode("latin-1")
    except UnicodeEncodeError as error:
        raise MalformedRequest("a header holds characters outside Latin-1") from error


@lru_cache(maxsize=64)
def opening(method: str) -> str:
    # CONNECT would make a tunnel of the connection; TRACE returns the request, secrets included
    # (RFC 9110 sections 9.3.6 and 9.3.8).
    if TOKEN.fullmatch(method) is None or method in ("CONNECT", "TRACE"):
        raise MalformedRequest("its method is not allowed")
    return f"{method} "


@lru_cache(maxsize=1024)
def label_of(name: str) -> str:
    """The name as it begins its line; empty for a field of the transport's own."""
    if TOKEN.fullmatch(name) is None:
        raise MalformedRequest("a header's name is malformed")
    return "" if name.lower() in OWN else f"{name}: "


def check_value(value: str) -> None:
    # RFC 9110 section 5.5: CR, LF and NUL in a value would let it add fields or requests.
    if UNSPEAKABLE.search(value):
        raise MalformedRequest("a header holds control characters")
