"""HTTP/1.1 requests as bytes, for requests that no client library sends."""

import socket
import ssl
import time
from typing import NamedTuple
from urllib.parse import urlsplit

HOST = b"Host: 127.0.0.1\r\n"
CHAT = b'{"model":"echo/echo","messages":[{"role":"user","content":"hi"}]}'


# Who answers is not in question here.
_TRUSTING = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_TRUSTING.check_hostname, _TRUSTING.verify_mode = False, ssl.CERT_NONE


class RawResponse(NamedTuple):
    """The bytes received until the other side closed or the time was up."""

    data: bytes
    closed: bool
    seconds: float

    @property
    def status(self) -> int:
        return int(self.data.split(b" ", 2)[1]) if self.data else 0

    @property
    def statuses(self) -> list[int]:
        return [int(part[:3]) for part in self.data.split(b"HTTP/1.1 ")[1:]]

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]


def connect(url: str) -> socket.socket:
    """A connection to a gateway."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    peer = socket.create_connection((parts.hostname, parts.port or 80), timeout=20)
    return _TRUSTING.wrap_socket(peer) if parts.scheme == "https" else peer


def read_response(peer: socket.socket, within: float, *, until: bytes | None = None) -> RawResponse:
    """Read until the connection closes, ``until`` has arrived or the time is up."""
    data, closed, begun = b"", False, time.monotonic()
    while (left := begun + within - time.monotonic()) > 0:
        peer.settimeout(left)
        try:
            piece = peer.recv(65536)
        except TimeoutError:
            break
        except ConnectionError:
            piece = b""
        if not piece:
            closed = True
            break
        data += piece
        if until is not None and until in data:
            break
    return RawResponse(data, closed, time.monotonic() - begun)


def send_bytes(peer: socket.socket, *pieces: bytes) -> None:
    """Send, and ignore a connection that the other side has closed."""
    try:
        for piece in pieces:
            peer.sendall(piece)
    except ConnectionError:
        pass


def send_and_read(
    url: str, *pieces: bytes, within: float = 5.0, until: bytes | None = None
) -> RawResponse:
    """Send bytes on a new connection and read the response."""
    with connect(url) as peer:
        send_bytes(peer, *pieces)
        return read_response(peer, within, until=until)


def request(line: str, *headers: bytes, body: bytes = b"") -> bytes:
    """A request with a Host header and these lines."""
    lines = b"".join(header + b"\r\n" for header in headers)
    return line.encode("latin-1") + b" HTTP/1.1\r\n" + HOST + lines + b"\r\n" + body


def chat(*headers: bytes, body: bytes = CHAT) -> bytes:
    """A chat request; the caller adds the framing headers."""
    return request(
        "POST /v1/chat/completions", b"Content-Type: application/json", *headers, body=body
    )


def sized(body: bytes = CHAT) -> bytes:
    """A valid chat request."""
    return chat(b"Content-Length: %d" % len(body), body=body)
