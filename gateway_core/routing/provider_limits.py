"""How many calls each provider gets at once and in a minute.

A call that finds no place waits for one, first come, first served; one beyond the minute's number
does not wait, because that could take the whole minute. Calls are counted in this process, and
beyond that where a plugin keeps a state that processes share.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping

from ..config.settings import Settings
from ..contracts.provider import ProviderSpec
from ..contracts.shared_state import SharedLimits, SharedState

MINUTE = 60.0
SOON = 1.0
"""Seconds after which a place may be free."""
LOOK_AGAIN = 0.05
"""Seconds after which a place may be free that another process holds."""


class ProviderFull(Exception):
    """A provider gets no further call now; ``wait`` is in seconds."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.reason, self.wait = reason, wait


class ProviderLimits:
    """The gates of the providers that are limited."""

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        shared: SharedState | None = None,
    ) -> None:
        self._monotonic, self._shared = monotonic, shared
        self._gates: dict[str, Gate] = {}

    def gate(self, spec: ProviderSpec, settings: Settings) -> "Gate | None":
        """The gate that a call has to enter by; ``None`` for a provider without limits."""
        at_once, a_minute = limits_of(spec, settings)
        if not at_once and not a_minute:
            return None
        gate = self._gates.get(spec.id)
        if gate is None:
            gate = self._gates[spec.id] = Gate(spec.id, self._monotonic, self._shared)
        gate.at_once, gate.a_minute = at_once, a_minute
        return gate


def limits_of(spec: ProviderSpec, settings: Settings) -> tuple[int, int]:
    """Calls at once and calls a minute; 0 is no limit."""
    at_once = _own(settings.provider_concurrency_limits, spec)
    a_minute = _own(settings.rpm_by_provider, spec)
    return at_once or 0, (spec.calls_per_minute or 0) if a_minute is None else a_minute


def _own(limits: Mapping[str, int], spec: ProviderSpec) -> int | None:
    """A provider's, by its id or by the prefix of its models."""
    return limits.get(spec.id, limits.get(spec.alias or spec.id))


class Gate:
    """One provider's. Whoever has entered calls ``leave`` once."""

    def __init__(
        self, provider: str, monotonic: Callable[[], float], shared: SharedState | None
    ) -> None:
        self._name, self._monotonic, self._shared = f"provider:{provider}", monotonic, shared
        self.at_once = self.a_minute = 0
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._entered: deque[float] = deque()
        """Monotonic times of the last minute's calls, while calls a minute are limited."""

    async def enter(self, patience: float) -> None:
        """Take a place, which may take ``patience`` seconds. Raises ProviderFull."""
        until = self._monotonic() + patience
        self._check_minute()
        if self._is_free:
            self._inside += 1
        else:
            await self._wait(patience)
        try:
            self._check_minute()
            if self._shared is not None:
                await self._enter_shared(self._shared, until)
        except BaseException:
            self._give_up()
            raise
        if self.a_minute:
            self._entered.append(self._monotonic())

    def leave(self) -> None:
        """Give the place up, to whoever has waited longest."""
        if self._shared is not None:
            self._shared.leave(self._name)
        self._give_up()

    async def _enter_shared(self, shared: SharedState, until: float) -> None:
        limits = SharedLimits(requests=self.a_minute or None, at_once=self.at_once or None)
        while (reached := await shared.admit(self._name, limits)) is not None:
            if reached.limit == "requests":
                raise ProviderFull(self._minute_reached, reached.wait)
            if self._monotonic() >= until:
                raise ProviderFull(self._places_taken, SOON)
            # Nobody says when another process gives a place up.
            await asyncio.sleep(LOOK_AGAIN)

    def _give_up(self) -> None:
        self._inside -= 1
        while self._waiting and self._is_free:
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)

    @property
    def _is_free(self) -> bool:
        return not self.at_once or self._inside < self.at_once

    async def _wait(self, patience: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException as error:
            if not turn.cancelled():  # The place came, too late.
                self._give_up()
            if isinstance(error, TimeoutError):
                raise ProviderFull(self._places_taken, SOON) from None
            raise

    @property
    def _places_taken(self) -> str:
        return f"Provider concurrency limit reached ({self.at_once} at once)"

    @property
    def _minute_reached(self) -> str:
        return f"Provider rate limit exceeded ({self.a_minute} requests/minute)"

    def _check_minute(self) -> None:
        now = self._monotonic()
        while self._entered and self._entered[0] <= now - MINUTE:
            self._entered.popleft()
        if self.a_minute and len(self._entered) >= self.a_minute:
            oldest = self._entered[len(self._entered) - self.a_minute]
            raise ProviderFull(self._minute_reached, oldest + MINUTE - now)
