"""What several gateways that serve as one count and keep together; a plugin keeps it elsewhere.

Without such a plugin each process counts for itself.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from msgspec import Struct


class SharedLimits(Struct, frozen=True, kw_only=True):
    """How much may be used under one name; ``None`` is no limit."""

    requests: int | None = None
    """A minute."""
    tokens: int | None = None
    """A minute, of calls that have ended: the next one is refused."""
    at_once: int | None = None


class LimitReached(Struct, frozen=True):
    """Why a call is refused."""

    limit: Literal["requests", "tokens", "at_once"]
    used: int
    wait: float
    """Seconds until there is room; a guess for ``at_once``."""


class AccountRest(Struct, frozen=True):
    """How long an account rests for a model; one whose end is over rests no longer."""

    account: str
    model: str
    """``__all`` where the whole account rests."""
    until: float = 0.0
    """Unix seconds."""
    level: int = 0
    status: int = 503
    reason: str = ""


class AccountScore(Struct, frozen=True):
    """How an account does with a model besides its rests: 100 unless it has failed lately."""

    account: str
    model: str
    score: float
    """0 to 100, as this process knows it now."""
    change: float = 0.0
    """What has just been added to it here; changes of several gateways are added up."""


class SharedState(Protocol):
    """Counts, rests and scores of all gateways that serve as one.

    Nothing here raises, or waits for longer than a fraction of a second: while the others
    cannot be reached, it decides from what it knows of this process.
    """

    @property
    def trouble(self) -> str:
        """Why this process counts for itself at the moment; empty while it does not."""

    def connect(
        self, adopt: Callable[[AccountRest | AccountScore], None]
    ) -> AbstractAsyncContextManager[None]:
        """Entered when the gateway opens. ``adopt`` is for what others publish."""

    async def admit(self, name: str, limits: SharedLimits) -> LimitReached | None:
        """Count a call under a name, unless a limit is reached."""

    def withdraw(self, name: str) -> None:
        """Take back the last call that was admitted, which is not made."""

    def leave(self, name: str) -> None:
        """A call that was admitted with ``at_once`` has ended."""

    def record(self, name: str, tokens: int) -> None:
        """Count the tokens of a call that has ended."""

    def publish(self, news: AccountRest | AccountScore) -> None:
        """Let the other gateways know of a rest that has begun or ended here, or of a score."""

    def keep(self, name: str, content: bytes, seconds: float) -> None:
        """Let every gateway find up to some megabytes for a while."""

    def discard(self, name: str) -> None: ...

    async def find(self, name: str) -> bytes | None:
        """What any gateway keeps under a name; it may be gone at any time."""
