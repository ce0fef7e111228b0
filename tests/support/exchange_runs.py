"""A request and its answer through the exchange that the gateway opens for them. No sockets."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from snapshots import provider, target
from translation_runs import members_of
from vendor_requests import VENDORS

from gateway_core import Call, Credential, Exchange, Kind, Model
from gateway_core.pipeline.translation import Translation

BODIES: dict[str, dict[str, Any]] = {
    "openai": {"messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"input": "hi"},
    "claude": {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {"messages": [{"role": "user", "content": "hi"}]},
}


@dataclass
class ExchangeRun:
    exchange: Exchange
    output: bytes

    def json(self) -> Any:
        return json.loads(self.output)

    def frames(self) -> list[Any]:
        """The data of a stream's frames, or its lines."""
        lines = (line.removeprefix(b"data: ") for line in self.output.splitlines())
        return [json.loads(line) for line in lines if line.startswith(b"{")]


def exchanged(
    client: str, vendor: str, answer: bytes | Sequence[bytes], *, stream: bool, **members: Any
) -> ExchangeRun:
    body = json.dumps({"model": "m", **BODIES[client], "stream": stream, **members}).encode()
    call = Call(
        kind=Kind.LLM,
        format=client,
        model="m",
        stream=stream,
        body=body,
        members=members_of(body),
        path={"model": "m"},
    )
    aim = target(provider("v", format=vendor, base_url="http://v"), Model("m"))
    exchange = Translation(call, VENDORS).open(aim, Credential(connection_id="c", secret="s"))
    pieces = (answer,) if isinstance(answer, bytes) else answer
    fed = b"".join([exchange.feed(piece) for piece in pieces])
    return ExchangeRun(exchange, fed + exchange.close())
