"""What is said on the sockets, by the functions of the edge-tts library.

The library's own client is not used: its connections would pass by the gateway's proxies, limits
and checks of addresses.
"""

from collections.abc import AsyncGenerator
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from edge_tts.communicate import (
    connect_id,
    date_to_string,
    get_headers_and_data,
    mkssml,
    remove_incompatible_characters,
    split_text_by_byte_length,
    ssml_headers_plus_data,
)
from edge_tts.constants import (
    SEC_MS_GEC_VERSION,
    TRUSTED_CLIENT_TOKEN,
    VOICE_HEADERS,
    WSS_HEADERS,
)
from edge_tts.data_classes import TTSConfig
from edge_tts.drm import DRM
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import (
    SocketClosed,
    SocketTransport,
    TransportError,
    UpstreamError,
    UpstreamRequest,
)

LONGEST = 4096
"""Bytes of a text that the service takes at once."""
HANDSHAKE = {"accept-encoding", "sec-websocket-version"}
"""Headers that the transport sets by itself."""
SETTINGS = (
    '{"context":{"synthesis":{"audio":{"metadataoptions":{"sentenceBoundaryEnabled":"false",'
    '"wordBoundaryEnabled":"false"},"outputFormat":"audio-24khz-48kbitrate-mono-mp3"}}}}'
)


class Script(Struct, frozen=True):
    """What is to be read aloud."""

    text: str
    voice: str
    rate: str
    """As in ``+20%``."""


def listing(request: UpstreamRequest) -> UpstreamRequest:
    """The request for the list of voices."""
    query = urlencode({"trustedclienttoken": TRUSTED_CLIENT_TOKEN, **_proof()})
    headers = {**request.headers, **_headers(VOICE_HEADERS)}
    return replace(request, url=f"{request.url}?{query}", headers=headers)


async def speak(
    transport: SocketTransport, request: UpstreamRequest, script: Script
) -> AsyncGenerator[bytes]:
    """The sound, MP3. Raises TransportError, UpstreamError."""
    config = TTSConfig(script.voice, script.rate, "+0%", "+0Hz", "SentenceBoundary")
    text = escape(remove_incompatible_characters(script.text))
    for piece in split_text_by_byte_length(text, LONGEST):
        socket = await transport.connect(_handshake(request))
        try:
            await socket.send(_settings())
            ssml = mkssml(config, piece)
            await socket.send(ssml_headers_plus_data(connect_id(), date_to_string(), ssml))
            is_silent = True
            while (sound := read(await socket.receive())) is not None:
                if sound:
                    is_silent = False
                    yield sound
            if is_silent:
                raise UpstreamError("The provider sent no sound.", status=502)
        finally:
            await socket.close()


def read(message: str | bytes | SocketClosed) -> bytes | None:
    """The sound of a message, ``None`` for the end of a piece. Raises TransportError."""
    if isinstance(message, SocketClosed):
        reason = f": {message.reason}" if message.reason else ""
        raise TransportError(f"The provider closed the socket with {message.code}{reason}")
    try:
        if isinstance(message, str):
            data = message.encode()
            headers, _ = get_headers_and_data(data, data.index(b"\r\n\r\n"))
            return None if headers.get(b"Path") == b"turn.end" else b""
        headers, sound = get_headers_and_data(message, int.from_bytes(message[:2], "big"))
    except ValueError:
        raise TransportError("The provider sent a message that cannot be read.") from None
    return sound if headers.get(b"Path") == b"audio" else b""


def _handshake(request: UpstreamRequest) -> UpstreamRequest:
    query = {
        "TrustedClientToken": TRUSTED_CLIENT_TOKEN,
        "ConnectionId": connect_id(),
        **_proof(),
    }
    url = f"{request.url}?{urlencode(query)}"
    return replace(request, method="GET", url=url, headers=_headers(WSS_HEADERS), body=b"")


def _settings() -> str:
    return (
        f"X-Timestamp:{date_to_string()}\r\n"
        "Content-Type:application/json; charset=utf-8\r\n"
        f"Path:speech.config\r\n\r\n{SETTINGS}\r\n"
    )


def _proof() -> dict[str, str]:
    return {
        "Sec-MS-GEC": DRM.generate_sec_ms_gec(),
        "Sec-MS-GEC-Version": SEC_MS_GEC_VERSION,
    }


def _headers(usual: dict[str, str]) -> dict[str, str]:
    headers = {name.lower(): value for name, value in DRM.headers_with_muid(usual).items()}
    return {name: value for name, value in headers.items() if name not in HANDSHAKE}
