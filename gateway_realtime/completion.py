"""Reads a streamed chat completion: its text, its usage, and how it ended."""

from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import GatewayError
from gateway_formats.sse import EventDecoder

DONE = b"[DONE]"
MAX_LENGTH = 4 * 1024 * 1024
"""Characters of an answer: no model writes so many, and they are kept until its end."""


class _Delta(Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class _Chunk(Struct, frozen=True):
    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


class Completion:
    """One answer, while it arrives."""

    def __init__(self) -> None:
        self.usage: dict[str, int] | None = None
        """Tokens: ``input_tokens``, ``output_tokens`` and ``total_tokens``."""
        self.finish_reason: str | None = None
        self._events = EventDecoder()
        self._texts: list[str] = []
        self._length = 0
        self._is_done = False

    @property
    def text(self) -> str:
        """What has come so far."""
        return "".join(self._texts)

    def feed(self, piece: bytes) -> Iterator[str]:
        """The texts in the next piece of the stream. Raises GatewayError if it says that it
        failed."""
        for _, data in self._events.feed(piece):
            if data == DONE:
                self._is_done = True
                continue
            chunk = _decode(data)
            if chunk.error is not None:
                self.fail(data)
            if chunk.usage is not None:
                used = chunk.usage
                total = used.total_tokens or used.prompt_tokens + used.completion_tokens
                self.usage = {
                    "input_tokens": used.prompt_tokens,
                    "output_tokens": used.completion_tokens,
                    "total_tokens": total,
                }
            for choice in chunk.choices[:1]:
                self.finish_reason = choice.finish_reason or self.finish_reason
                text = choice.delta.content or choice.delta.refusal
                if text:
                    self._texts.append(text)
                    self._length += len(text)
                    if self._length > MAX_LENGTH:
                        raise GatewayError("The answer is too long")
                    yield text

    def close(self) -> None:
        """The stream has ended. Raises GatewayError if it broke off."""
        if not self._is_done:
            raise GatewayError("The answer broke off")

    def fail(self, body: bytes) -> NoReturn:
        """Raise the GatewayError that a body in the envelope of the completions style says."""
        try:
            members = msgspec.json.decode(body, type=dict[str, dict[str, Any]])["error"]
        except (msgspec.MsgspecError, KeyError):
            raise GatewayError("Request failed") from None
        failure = GatewayError(str(members.get("message")), code=str(members.get("code") or ""))
        failure.type = str(members.get("type") or failure.type)
        raise failure
