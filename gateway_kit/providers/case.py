"""A case of the kit: a name, a sentence for the author, and the check itself."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from .bench import Bench

Run = Callable[["Bench"], Coroutine[Any, Any, None]]


class Unmet(Exception):
    """A case fails; the text says what was seen."""


class Case(Struct, frozen=True, kw_only=True):
    """``run`` raises Unmet, or whatever the plugin's own code raises."""

    name: str
    advice: str
    """One sentence that tells the author what to do."""
    run: Run

    def failure(self, seen: BaseException) -> str:
        """What the author is told."""
        told = str(seen) if isinstance(seen, Unmet) else f"{type(seen).__name__}: {seen}"
        return f"{self.name}: {self.advice} Seen: {told}"


def expect(holds: object, seen: str) -> None:
    """Raises Unmet."""
    if not holds:
        raise Unmet(seen)
