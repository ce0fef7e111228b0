"""Compares the figures time and again, and delivers what has changed until it has arrived.

What lasts, what waits and what was sent is kept in the database: a restart forgets no alert
and repeats none, and of several processes one watches at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from gateway_core import Host
from gateway_observing.figures import Figures

from .alert import Active, Alert, Event, advance
from .destinations import DeliveryFailed, Destination, destinations
from .rules import find_alerts
from .settings import Settings

SCOPE = "alerts"
RETRIES = (60.0, 300.0, 900.0, 3600.0, 3 * 3600.0)
"""Seconds until each further attempt; after the last one a delivery is given up."""
MOST_WAITING = 500
MOST_LOGGED = 200
LEASE_SHARE = 0.9
"""Of the time between two comparisons, for which no other process begins one."""


class Delivery(Struct, frozen=True, kw_only=True, rename="camel"):
    """An event on its way to one destination."""

    event: Event
    to: str
    attempts: int = 0
    due: float = 0.0
    """Unix seconds."""


class Sent(Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of the log."""

    at: float
    """Unix seconds."""
    to: str
    outcome: Literal["delivered", "failed", "given up"]
    attempt: int
    event: str
    title: str
    error: str = ""


class State(Struct, kw_only=True):
    """Everything that is kept."""

    active: dict[str, Active] = field(default_factory=dict)
    waiting: list[Delivery] = field(default_factory=list)
    log: list[Sent] = field(default_factory=list)


class Watcher:
    """Of one gateway."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._figures = Figures(host.core)
        self._trouble = ""

    @property
    def settings(self) -> Settings:
        """As they are now."""
        return msgspec.convert(self._host.settings, Settings, from_attributes=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch until the block ends."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.settings.every_seconds)
            try:
                await self.check_in_turn()
            except Exception as error:  # It is tried again; the log has each trouble once.
                text = f"{type(error).__name__}: {error}"
                if text != self._trouble:
                    self._host.log.warning("the figures could not be compared: %s", text)
                self._trouble = text
            else:
                self._trouble = ""

    async def check_in_turn(self) -> bool:
        """Compare and deliver, unless another process does; says whether it was this one."""
        lease = self.settings.every_seconds * LEASE_SHARE
        if not await self._figures.take_turn(SCOPE, lease):
            return False
        await self.check()
        return True

    async def check(self) -> None:
        """Compare the figures once, and deliver what is due."""
        settings, now = self.settings, self._figures.now()
        kept = await self._figures.load(SCOPE)
        state = msgspec.convert(kept, State)
        found = await find_alerts(self._figures, settings)
        state.active, events = advance(state.active, found, now)
        places = destinations(self._host, settings)
        state.waiting += [Delivery(event=each, to=name) for each in events for name in places]
        await self._deliver(state, places, now)
        after = msgspec.to_builtins(state)
        changed = {name: value for name, value in after.items() if kept.get(name, []) != value}
        if changed:
            await self._figures.keep(SCOPE, changed)

    async def state(self) -> State:
        """What is kept now."""
        return msgspec.convert(await self._figures.load(SCOPE), State)

    async def test(self) -> dict[str, str]:
        """Send a test to every destination; gives what went wrong by destination, or nothing."""
        now = self._figures.now()
        alert = Alert(
            id="test",
            kind="test",
            severity="warning",
            title="A test of the gateway's alerts",
            text="Nothing is the matter.",
        )
        event = Event(id=f"test@{now:.3f}", event="begins", at=now, alert=alert)
        places = destinations(self._host, self.settings)
        results = await asyncio.gather(*(_attempt(each, event) for each in places.values()))
        return dict(zip(places, results, strict=True))

    async def _deliver(self, state: State, places: Mapping[str, Destination], now: float) -> None:
        due = [each for each in state.waiting if each.due <= now]
        later = [each for each in state.waiting if each.due > now]
        known = [
            each for each in due if each.to in places
        ]  # Others were taken out of the settings.
        results = await asyncio.gather(*(_attempt(places[each.to], each.event) for each in known))
        for each, error in zip(known, results, strict=True):
            attempt = each.attempts + 1
            is_last = attempt > len(RETRIES)
            outcome: Any = "delivered" if not error else "given up" if is_last else "failed"
            state.log.append(_line(each, outcome, attempt, error, now))
            if outcome == "failed":
                later.append(replace(each, attempts=attempt, due=now + RETRIES[attempt - 1]))
        for each in later[:-MOST_WAITING]:
            state.log.append(_line(each, "given up", each.attempts, "too many wait", now))
        state.waiting = later[-MOST_WAITING:]
        state.log = state.log[-MOST_LOGGED:]


async def _attempt(destination: Destination, event: Event) -> str:
    """What went wrong; empty for nothing."""
    try:
        await destination.send(event)
    except DeliveryFailed as error:
        return str(error)[:300] or "it failed"
    return ""


def _line(each: Delivery, outcome: Any, attempt: int, error: str, now: float) -> Sent:
    return Sent(
        at=now,
        to=each.to,
        outcome=outcome,
        attempt=attempt,
        event=each.event.event,
        title=each.event.alert.title,
        error=error,
    )
