"""Alerts, and how they begin and end."""

from typing import Literal

from msgspec import Struct

Severity = Literal["warning", "critical"]
CALM = 300.0
"""Seconds without its cause after which an alert ends, so that one that comes and goes is one."""


class Alert(Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that an operator should know, while it lasts."""

    id: str
    """The same for the same cause, whenever it is seen."""
    kind: Literal["limit", "spend", "errors", "rest", "test"]
    severity: Severity
    title: str
    text: str
    values: dict[str, str | float] = {}
    """The figures behind it."""


class Active(Struct, frozen=True, kw_only=True, rename="camel"):
    """An alert that lasts. Times are Unix seconds."""

    alert: Alert
    since: float
    seen: float
    """When its cause was last there."""


class Event(Struct, frozen=True, kw_only=True, rename="camel"):
    """An alert begins, becomes critical, or ends."""

    id: str
    """Unique; a repeated delivery has the same."""
    event: Literal["begins", "worsens", "ends"]
    at: float
    """Unix seconds."""
    alert: Alert


def advance(
    active: dict[str, Active], found: list[Alert], now: float
) -> tuple[dict[str, Active], list[Event]]:
    """The alerts that last from now on, and what has changed."""
    after, events = dict[str, Active](), list[Event]()

    def add(event: Literal["begins", "worsens", "ends"], alert: Alert) -> None:
        events.append(Event(id=f"{alert.id}@{now:.0f}", event=event, at=now, alert=alert))

    for alert in found:
        before = active.get(alert.id)
        if before is None:
            add("begins", alert)
        elif alert.severity == "critical" != before.alert.severity:
            add("worsens", alert)
        since = now if before is None else before.since
        after[alert.id] = Active(alert=alert, since=since, seen=now)
    for id, before in active.items():
        if id in after:
            continue
        if now - before.seen < CALM:
            after[id] = before
        else:
            add("ends", before.alert)
    return after, events
