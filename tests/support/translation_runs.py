"""One request translated from a client's format to a vendor's, and the answer back. No sockets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from gateway_format_claude import CLAUDE
from gateway_format_gemini import GEMINI
from gateway_format_ollama import OLLAMA
from gateway_format_openai import CHAT
from gateway_format_openai_responses import FORMATS as RESPONSES
from msgspec import Raw
from msgspec.structs import replace
from snapshots import provider, target

from gateway_core import Answered, Call, Credential, GatewayError, Kind, Model, WireFormat
from gateway_core.pipeline.exchanges import Translated, client_side
from gateway_core.upstream.endpoints import UpstreamEndpoint

WIRES: dict[str, WireFormat] = {
    wire.id: wire for wire in (CHAT, RESPONSES[0], CLAUDE, GEMINI, OLLAMA)
}
FOLDERS = {
    "openai": "openai_chat",
    "openai-responses": "openai_responses",
    "claude": "anthropic_messages",
    "gemini": "gemini_generate_content",
    "ollama": "ollama_chat",
}
"""Folders of the recordings of each format."""
_members = msgspec.json.Decoder(dict[str, Raw]).decode


@dataclass
class TranslationRun:
    """The vendor's request and the client's answer; ``refused`` if there is no request."""

    refused: str = ""
    received: bytes = b""
    reported: tuple[bytes, ...] = ()
    usage: Any = None
    characters: int = 0
    started: bool = False
    failure: str = ""
    lost: tuple[str, ...] = ()


def translate(
    client: str, vendor: str, body: bytes, answer: Sequence[bytes], *, stream: bool, model: str
) -> TranslationRun:
    """Translate between any two formats."""
    wire = WIRES[vendor]
    call = Call(
        kind=Kind.LLM,
        format=client,
        model="m",
        stream=stream,
        body=body,
        members=members_of(body),
    )
    aim = target(provider("v", format=vendor), Model(model))
    way = UpstreamEndpoint(
        target=aim,
        credential=Credential(connection_id="c", secret=""),
        wire=wire,
        url="http://v",
        headers={},
        whole=not stream,
        patience=None,
        silence=None,
    )
    try:
        received = replace(client_side(WIRES[client]).read_request(call), stream=stream)
        exchange = Translated(call, received, way, WIRES[client], 1_000)
    except (GatewayError, Answered) as error:
        return TranslationRun(refused=str(error))
    reported = (*map(exchange.feed, answer), exchange.close())
    failure = "" if exchange.failure is None else repr(exchange.failure)
    return TranslationRun(
        received=exchange.request.body,
        reported=reported,
        usage=exchange.usage,
        characters=exchange.characters,
        started=exchange.started,
        failure=failure,
        lost=tuple(sorted(exchange.losses.names)),
    )


def members_of(body: bytes) -> dict[str, Raw]:
    """Empty for a body that is not a JSON object."""
    try:
        return _members(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
