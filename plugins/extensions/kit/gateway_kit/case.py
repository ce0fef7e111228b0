"""A case of the kit: a name, advice for the author, the check itself, and what it counts for."""

from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gateway_core.plugins.tiers import Tier

Run = Callable[[Any], Coroutine[Any, Any, None]]
"""Takes the bench of the case's own role."""


class CaseFailed(Exception):
    """A case fails; the text says what was seen."""


class Case(Struct, frozen=True, kw_only=True):
    """``run`` raises Unmet, or whatever the plugin's own code raises."""

    name: str
    advice: str
    """One sentence that tells the author what to do."""
    run: Run
    tier: Tier = Tier.GOLD
    """The lowest tier that a plugin which fails this cannot reach."""
    alone: bool = False
    """Whether it opens gateways of its own, and none may be open beside them."""

    def failure(self, seen: BaseException) -> str:
        """What the author is told."""
        message = str(seen) if isinstance(seen, CaseFailed) else f"{type(seen).__name__}: {seen}"
        return f"{self.name}: {self.advice} Seen: {message}"


def expect(condition: object, seen: str) -> None:
    """Raises Unmet."""
    if not condition:
        raise CaseFailed(seen)


def expect_none(faults: Iterable[str]) -> None:
    """Raises Unmet, which tells all of them."""
    message = list(faults)
    expect(not message, "; ".join(message))


def with_tier(tier: Tier, cases: Iterable[Case]) -> Iterator[Case]:
    """The cases, counting for this tier."""
    return (replace(case, tier=tier) for case in cases)
