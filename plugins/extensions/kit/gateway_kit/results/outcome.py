"""What came of a plugin's cases, and which tier that is."""

from collections.abc import Collection

from msgspec import Struct

from gateway_administration.plugins.tiers import Tier

_ORDER = (Tier.BRONZE, Tier.SILVER, Tier.GOLD)


class Failure(Struct, frozen=True, kw_only=True, rename="camel"):
    """A case that failed."""

    case: str
    message: str
    """What to do, and what was seen."""
    tier: Tier
    """The lowest tier that the plugin does not reach because of it."""


class ExpectedFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """A case that failed as the author said it would. It counts for no tier."""

    case: str
    reason: str


class Results(Struct, frozen=True, kw_only=True, rename="camel"):
    """One plugin's."""

    plugin: str
    """Its name among the plugins."""
    module: str
    digest: str
    """Of its files; empty where it has none."""
    protocol: int
    """Version of the hook protocol that it declares."""
    kit: str
    """Version of the gateway whose kit this is."""
    tier: Tier
    cases: int
    failures: tuple[Failure, ...]
    seconds: float
    live: bool
    """Whether the real vendor answered correctly."""
    checked_at: str
    """UTC, ISO 8601."""
    expected: tuple[ExpectedFailure, ...] = ()
    clients: tuple[str, ...] = ()
    """The client formats that its vendors were called in; none for a plugin without vendors."""
    lacks: tuple[str, ...] = ()
    """What its author says that it has nothing of: no case asked for it."""

    @property
    def passed(self) -> int:
        return self.cases - len(self.failures) - len(self.expected)


def reached_tier(cases: Collection[Tier], failed: Collection[Tier], *, live: bool) -> Tier:
    """The tier of a plugin by the tiers of its cases and of those that failed.

    One of which it has no case is not reached by it.
    """
    best = Tier.FAILING
    for tier in _ORDER:
        if tier in failed:
            return best
        if tier in cases:
            best = tier
    return Tier.PLATINUM if live and best is Tier.GOLD else best
