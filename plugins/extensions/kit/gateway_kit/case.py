"""A case of the kit: a name, advice for the author, the check itself, and what it counts for."""

from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway_administration.plugins.tiers import Tier

Run = Callable[[Any], Coroutine[Any, Any, None]]
"""Takes the harness of the case's own role."""


class CaseFailed(Exception):
    """A case failed; the message says what was seen."""


class Case(Struct, frozen=True, kw_only=True):
    """``run`` raises CaseFailed, or the plugin's code may raise anything."""

    name: str
    advice: str
    """One sentence that says what the author should do."""
    run: Run
    tier: Tier = Tier.GOLD
    """The lowest tier that a plugin which fails this cannot reach."""
    alone: bool = False
    """Whether it opens gateways of its own, and none may be open beside them."""
    needs_gateway: bool = True
    """Whether the gateway of the harness has to be open; opening it takes most of the time."""

    def failure(self, seen: BaseException) -> str:
        """The message for the author."""
        message = str(seen) if isinstance(seen, CaseFailed) else f"{type(seen).__name__}: {seen}"
        return f"{self.name}: {self.advice} Seen: {message}"


def expect(condition: object, seen: str) -> None:
    """Raises CaseFailed."""
    if not condition:
        raise CaseFailed(seen)


def expect_none(faults: Iterable[str]) -> None:
    """Raises CaseFailed, which lists all of them."""
    message = list(faults)
    expect(not message, "; ".join(message))


def with_tier(tier: Tier, cases: Iterable[Case]) -> Iterator[Case]:
    """The cases, counting for this tier."""
    return (replace(case, tier=tier) for case in cases)
