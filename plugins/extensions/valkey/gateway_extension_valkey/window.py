"""What this process has used under one name: what it decides by while the server is away.

It is told again to a server that comes back, which may have lost everything.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from gateway_core import LimitReached, SharedLimits

from .decision import MINUTE

SOON = 1.0


class Entry(NamedTuple):
    """One that the script takes: see ``decision.SCRIPT``."""

    kind: str
    id: str
    age_ms: int = 0
    amount: int = 0


class Window:
    """The requests and tokens of the last minute, and the calls under way."""

    def __init__(self) -> None:
        self._requests: deque[tuple[float, str]] = deque()
        self._tokens: deque[tuple[float, str, int]] = deque()
        self._tokens_sum = 0
        self._calls: dict[str, None] = {}

    def admit(self, id: str, limits: SharedLimits, now: float) -> None:
        """Count a call that was admitted."""
        if limits.requests is not None:
            self._requests.append((now, id))
        if limits.at_once is not None:
            self._calls[id] = None

    def record(self, id: str, tokens: int, now: float) -> None:
        self._tokens.append((now, id, tokens))
        self._tokens_sum += tokens

    def withdraw(self) -> str | None:
        """Take back the last call that was admitted: its id."""
        if not self._requests:
            return None
        _, id = self._requests.pop()
        self._calls.pop(id, None)
        return id

    def leave(self) -> str | None:
        """Let a call end, whichever it is: its id."""
        return self._calls.popitem()[0] if self._calls else None

    def slide(self, now: float) -> None:
        """Drop what is older than a minute."""
        while self._requests and self._requests[0][0] <= now - MINUTE:
            self._requests.popleft()
        while self._tokens and self._tokens[0][0] <= now - MINUTE:
            self._tokens_sum -= self._tokens.popleft()[2]

    def check(self, limits: SharedLimits, now: float) -> LimitReached | None:
        """The first limit that this process alone has reached."""
        self.slide(now)
        if limits.tokens is not None and self._tokens_sum >= limits.tokens:
            leaves_from, left = now, self._tokens_sum
            for moment, _, tokens in self._tokens:
                leaves_from, left = moment, left - tokens
                if left < limits.tokens:
                    break
            return LimitReached("tokens", self._tokens_sum, leaves_from + MINUTE - now)
        used = len(self._requests)
        if limits.requests is not None and used >= limits.requests:
            oldest = self._requests[used - limits.requests][0]
            return LimitReached("requests", used, oldest + MINUTE - now)
        if limits.at_once is not None and len(self._calls) >= limits.at_once:
            return LimitReached("at_once", len(self._calls), SOON)
        return None

    @property
    def is_empty(self) -> bool:
        return not (self._requests or self._tokens or self._calls)

    def calls(self) -> list[Entry]:
        """The calls under way, to be renewed."""
        return [Entry("call", id) for id in self._calls]

    def entries(self, now: float) -> Iterator[Entry]:
        """Everything that counts still."""
        self.slide(now)
        for moment, id in self._requests:
            yield Entry("request", id, round((now - moment) * 1000))
        for moment, id, tokens in self._tokens:
            yield Entry("tokens", id, round((now - moment) * 1000), tokens)
        yield from self.calls()
