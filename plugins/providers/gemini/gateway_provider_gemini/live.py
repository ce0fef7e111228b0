"""Live sessions: the first message sets one up and names its model, then turns follow.

https://ai.google.dev/api/live
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from gateway_core import Kind, SocketEvent, SocketService, Spent, Usage
from gateway_providers.sockets import NOTHING, PCM16, RUNNING, member, number, read_object

METHOD = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
PATH = "/v1/native/gemini/live"
SOUND_TOKEN = 24_000 * PCM16 / 25
"""Bytes of sound, at the rate of the vendor's answers, that are one token."""


class LiveReader:
    """Reads turns: each is counted when it is complete, with all that was generated in it."""

    def __init__(self, _query: Mapping[str, str]) -> None:
        self._is_open = False
        self._turns = 0
        self._generated: list[Usage] = []
        self._latest: Usage | None = None
        self._estimate = 0.0
        """Tokens of what was generated and is not reported."""

    def read_client(self, message: str | bytes) -> SocketEvent:
        event = read_object(message)
        # The vendor reads the names of members in both ways of writing them.
        if "clientContent" in event or "client_content" in event:
            return self._open()
        return NOTHING

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        event = read_object(message)
        content, used = event.get("serverContent"), event.get("usageMetadata")
        begins = NOTHING
        if "toolCall" in event or (isinstance(content, dict) and "modelTurn" in content):
            begins = self._open()
        if isinstance(content, dict):
            self._estimate += estimated_tokens(content.get("modelTurn"))
        if isinstance(used, dict):
            self._latest, self._estimate = usage_of(used), 0.0
        if "toolCall" in event:
            # What follows the tools' results is generated, and reported, anew.
            self._fold()
        is_complete = isinstance(content, dict) and content.get("turnComplete") is True
        is_late = content is None and isinstance(used, dict) and not self._is_open
        if is_complete or is_late:
            self._is_open = False
            return SocketEvent(begins=begins.begins, spent=self.close())
        return begins

    def close(self) -> Spent | None:
        self._fold()
        generated, self._generated = self._generated, []
        if self._is_open and self._estimate:
            # The turn broke off before anything was reported.
            generated.append(Usage(output_tokens=ceil(self._estimate), estimated=True))
        self._estimate = 0.0
        if not generated:
            return None
        self._turns += 1
        return Spent(
            id=f"turn:{self._turns}",
            usage=Usage(
                input_tokens=sum(each.input_tokens for each in generated),
                output_tokens=sum(each.output_tokens for each in generated),
                cached_tokens=sum(each.cached_tokens for each in generated),
                reasoning_tokens=sum(each.reasoning_tokens for each in generated),
                estimated=any(each.estimated for each in generated),
            ),
        )

    def _open(self) -> SocketEvent:
        if self._is_open:
            return NOTHING
        self._is_open = True
        return RUNNING

    def _fold(self) -> None:
        if self._latest is not None:
            self._generated.append(self._latest)
            self._latest = None


def estimated_tokens(turn: Any) -> float:
    """Tokens of a piece of a turn: of its text, and of its sound, 25 for a second.

    https://ai.google.dev/gemini-api/docs/tokens
    """
    tokens = 0.0
    for part in member(turn, "parts") or ():
        text, sound = member(part, "text"), member(part, "inlineData", "data")
        if isinstance(text, str):
            tokens += len(text) / 4
        if isinstance(sound, str):
            tokens += len(sound) * 3 / 4 / SOUND_TOKEN
    return tokens


def usage_of(used: Mapping[str, Any]) -> Usage:
    """Thoughts, and what tools have brought into the prompt, are counted beside the others."""
    thoughts = int(number(used, "thoughtsTokenCount"))
    tools = int(number(used, "toolUsePromptTokenCount"))
    return Usage(
        input_tokens=int(number(used, "promptTokenCount")) + tools,
        output_tokens=int(number(used, "responseTokenCount")) + thoughts,
        cached_tokens=int(number(used, "cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )


LIVE = SocketService(
    kind=Kind.LIVE,
    # The vendor's own client puts the method's path behind the address that it is set to.
    paths=(PATH, f"{PATH}/ws/{METHOD}"),
    url=f"wss://generativelanguage.googleapis.com/ws/{METHOD}",
    reader=LiveReader,
    key_query="key",
    model_fields=("setup.model",),
    session_model="setup.model",
    begins_with_model=True,
    model_prefix="models/",
)
