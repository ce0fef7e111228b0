"""The handshake of a WebSocket: RFC 6455, section 4.2, and RFC 8441, section 5, over HTTP/2."""

import binascii
from collections.abc import Iterator, Sequence

from msgspec import Struct
from wsproto.utilities import generate_accept_token

from ..connections import Message
from ..http1.request_head import Headers, RefusedRequest
from ..http1.response_head import Header

VERSION = b"13"
KEY_SIZE = 16
MAX_SUBPROTOCOLS = 32
_VERSIONS: tuple[Header, ...] = ((b"sec-websocket-version", VERSION),)


class Handshake(Struct, frozen=True):
    """What a client has asked for."""

    subprotocols: tuple[str, ...]
    key: bytes | None = None
    """Proves to the client that the server speaks the protocol; none over HTTP/2."""

    def accept_headers(self, message: Message) -> list[Header]:
        """The headers of the response that ``websocket.accept`` asks for. Raises RuntimeError."""
        headers = [(bytes(name), bytes(value)) for name, value in message.get("headers") or ()]
        chosen = message.get("subprotocol")
        if chosen is not None:
            if chosen not in self.subprotocols:
                raise RuntimeError("the client has not offered this subprotocol")
            headers.append((b"sec-websocket-protocol", chosen.encode("ascii")))
        if self.key is not None:
            headers += [
                (b"upgrade", b"websocket"),
                (b"connection", b"Upgrade"),
                (b"sec-websocket-accept", generate_accept_token(self.key)),
            ]
        return headers


def read_upgrade(method: bytes, version: str, headers: Headers) -> Handshake:
    """The handshake of HTTP/1.1. Raises RefusedRequest."""
    if method != b"GET" or version != "1.1" or b"upgrade" not in _tokens(headers, b"connection"):
        raise _malformed()
    for name, value in headers:
        if name == b"transfer-encoding" or (name == b"content-length" and int(value)):
            raise RefusedRequest(400, "A WebSocket handshake has no body")
    keys = [value for name, value in headers if name == b"sec-websocket-key"]
    if len(keys) != 1 or not _is_key(keys[0]):
        raise _malformed()
    return Handshake(_check(headers), keys[0])


def read_connect(headers: Headers) -> Handshake:
    """The handshake of HTTP/2. Raises RefusedRequest."""
    return Handshake(_check(headers))


def socket_scope(scope: Message, handshake: Handshake) -> Message:
    """The scope of a socket, from that of its handshake as a request."""
    members = {name: value for name, value in scope.items() if name != "method"}
    return {
        **members,
        "type": "websocket",
        "scheme": "wss" if scope["scheme"] == "https" else "ws",
        "subprotocols": list(handshake.subprotocols),
        # https://asgi.readthedocs.io/en/latest/extensions.html#websocket-denial-response
        "extensions": {"websocket.http.response": {}},
    }


def _check(headers: Headers) -> tuple[str, ...]:
    """The subprotocols of a client that speaks our version. Raises RefusedRequest."""
    if [value for name, value in headers if name == b"sec-websocket-version"] != [VERSION]:
        raise RefusedRequest(426, "This version of WebSocket is not spoken here", _VERSIONS)
    offered = tuple(each.decode("latin-1") for each in _values(headers, b"sec-websocket-protocol"))
    if len(offered) > MAX_SUBPROTOCOLS:
        raise RefusedRequest(400, "There are too many subprotocols")
    return offered


def _malformed() -> RefusedRequest:
    return RefusedRequest(400, "The WebSocket handshake is malformed")


def _is_key(value: bytes) -> bool:
    try:
        return len(binascii.a2b_base64(value, strict_mode=True)) == KEY_SIZE
    except binascii.Error:
        return False


def _tokens(headers: Sequence[Header], name: bytes) -> set[bytes]:
    return {value.lower() for value in _values(headers, name)}


def _values(headers: Sequence[Header], name: bytes) -> Iterator[bytes]:
    """The members of a list, which may be in several headers: RFC 9110, section 5.6.1."""
    for each, value in headers:
        if each == name:
            yield from (part.strip() for part in value.split(b",") if part.strip())
