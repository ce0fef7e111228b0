"""What plugins answer calls with in the place of vendors, and what they see of vendors' answers.

A source is asked for each attempt at a chat model, once policy and limits have let the call in:
what it gives is read as the vendor's own bytes, so formats and filters treat it alike.
"""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from gateway_core import Call, Conversation, Target, UpstreamRequest, Usage
from gateway_core.contracts.wire import VendorSide


class Question(Struct, frozen=True, kw_only=True):
    """A request that is about to leave for a vendor."""

    call: Call
    target: Target
    """The model, whatever name the client used."""
    conversation: Conversation
    request: UpstreamRequest
    """As the vendor would get it, before an executor has signed it."""
    vendor: VendorSide
    """Reads the vendor's answers."""
    accounts: frozenset[str]
    """Those that the caller's key may use; empty for all."""


class SourcedAnswer(Protocol):
    """One answer: a source's own, or a vendor's that the source follows."""

    body: bytes | None
    """The vendor's bytes of the answer; ``None`` has the vendor answer."""
    headers: Mapping[str, str]
    """Added to those of the client's answer."""

    def feed(self, chunk: bytes) -> None:
        """More of the vendor's answer has come."""

    def close(self, *, is_whole: bool) -> None:
        """Nothing more will come; called at least once, and the first time counts."""

    async def deliver(self, usage: Usage | None) -> None:
        """The client is about to get the end of an answer that no filter has ended or refused.
        ``usage`` is what its vendor reported."""

    def leave(self) -> None:
        """The answer will not be delivered, or has been; may be called more than once."""


class AnswerSource(Protocol):
    """Answers in the place of vendors. Where it fails, the vendor is asked."""

    @property
    def is_idle(self) -> bool:
        """It answers nothing now; read again when settings change."""

    async def answer(self, question: Question) -> SourcedAnswer | None:
        """``None`` leaves the answer to the vendor. Raises the GatewayError to refuse it with."""
