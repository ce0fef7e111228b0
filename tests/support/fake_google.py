"""Google Cloud behind a transport: a token server and a model, both without a network."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import msgspec

from gateway_core import UpstreamRequest, UpstreamResponse

TOKEN_URL = "https://oauth2.googleapis.com/token"


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    closed: bool = False

    async def next(self) -> bytes:
        piece, self.body = self.body[:16], self.body[16:]
        return piece

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Google:
    """Issues ``token-1``, ``token-2`` and so on; the model answers with ``model_status``."""

    sign_in: tuple[int, bytes] | None = None
    """Answered instead of a token."""
    model_status: int = 200
    lifetime: int = 3600
    gate: asyncio.Event | None = None
    """Awaited before a token is issued."""
    signed_in: list[UpstreamRequest] = field(default_factory=list)
    received: list[UpstreamRequest] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.url != TOKEN_URL:
            self.received.append(request)
            return self._answer(self.model_status, b"{}")
        self.signed_in.append(request)
        if self.gate is not None:
            await self.gate.wait()
        if self.sign_in is not None:
            return self._answer(*self.sign_in)
        token = {"access_token": f"token-{len(self.signed_in)}", "expires_in": self.lifetime}
        return self._answer(200, msgspec.json.encode({**token, "token_type": "Bearer"}))

    def _answer(self, status: int, body: bytes) -> Answer:
        self.answers.append(Answer(status, body))
        return self.answers[-1]

    def statement(self, number: int = 0) -> str:
        """The signed assertion of a login."""
        form = parse_qs(self.signed_in[number].body.decode())
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        [signed] = form["assertion"]
        return signed
