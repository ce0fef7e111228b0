"""A law, a case of it for one format, and how a broken law is told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from gateway_core import WireFormat

from .harness import Bench

Check = Callable[[Bench], None]
Needs = Callable[[WireFormat], bool]

_SHOWN = 600


class Broken(AssertionError):
    """A format does not keep a law; the message says which, and what to do."""


class Law(Struct, frozen=True):
    """What must hold of every format that ``needs`` is true of."""

    id: str
    claim: str
    """A whole sentence without its full stop."""
    remedy: str
    """What to do about it, an imperative without its full stop."""
    needs: Needs
    check: Check


@dataclass(frozen=True, repr=False)
class Case:
    """One law and one format."""

    law: Law
    bench: Bench

    def __repr__(self) -> str:
        return self.law.id

    def check(self) -> None:
        """Raises Broken."""
        __tracebackhide__ = True  # what the author sees is the test and the sentence
        try:
            self.law.check(self.bench)
        except Broken as broken:
            raise Broken(f"{self._sentence()} ({broken})") from None
        except Exception as error:
            name = type(error).__name__
            raise Broken(f"{self._sentence()} ({name} escaped: {error})") from error

    def _sentence(self) -> str:
        return f"{self.bench.wire.id} breaks a law: {self.law.claim}; {self.law.remedy}."


def law(id: str, claim: str, remedy: str, needs: Needs) -> Callable[[Check], Law]:
    """Make a law of a function that raises Broken."""
    return lambda check: Law(id, claim, remedy, needs, check)


def expect(kept: bool, *seen: object) -> None:
    """Raises Broken, which tells what was seen."""
    if not kept:
        raise Broken("; ".join(_short(each) for each in seen))


def same(got: object, wanted: object, about: str = "") -> None:
    """Raises Broken when two values differ."""
    expect(got == wanted, f"{about} got {_short(got)}".strip(), f"wanted {_short(wanted)}")


def each(bench: Bench, strategy: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Check some values of a strategy, always the same ones."""
    phases = (Phase.generate, Phase.shrink) if bench.simplify else (Phase.generate,)
    bounds = settings(
        max_examples=bench.examples,
        phases=phases,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    bounds(given(strategy)(check))()


def _short(value: object) -> str:
    said = value if isinstance(value, str) else repr(value)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"


def has_client(wire: WireFormat) -> bool:
    return wire.client is not None


def has_vendor(wire: WireFormat) -> bool:
    return wire.vendor is not None


def has_both(wire: WireFormat) -> bool:
    return has_client(wire) and has_vendor(wire)
