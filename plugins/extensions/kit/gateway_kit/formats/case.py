"""A law, a case of it for one format, and the error for a broken law."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from gateway_core import WireFormat

from .harness import FormatHarness, Lacked

Check = Callable[[FormatHarness], None]
Needs = Callable[[WireFormat], bool]

_SHOWN = 600


class LawBroken(AssertionError):
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
class FormatCase:
    """One law and one format."""

    law: Law
    harness: FormatHarness

    def __repr__(self) -> str:
        return self.law.id

    def check(self) -> None:
        """Raises LawBroken."""
        __tracebackhide__ = True  # what the author sees is the test and the sentence
        try:
            self.law.check(self.harness)
        except Lacked:
            return
        except LawBroken as error:
            raise LawBroken(f"{self._sentence()} ({error})") from None
        except Exception as error:
            name = type(error).__name__
            raise LawBroken(f"{self._sentence()} ({name} escaped: {error})") from error

    def _sentence(self) -> str:
        return f"{self.harness.wire.id} breaks a law: {self.law.claim}; {self.law.remedy}."


def law(id: str, claim: str, remedy: str, needs: Needs) -> Callable[[Check], Law]:
    """Make a law of a function that raises LawBroken."""
    return lambda check: Law(id, claim, remedy, needs, check)


def expect(condition: bool, *seen: object) -> None:
    """Raises LawBroken, which says what was seen."""
    if not condition:
        raise LawBroken("; ".join(_short(check_each) for check_each in seen))


def expect_equal(actual: object, expected: object, about: str = "") -> None:
    """Raises LawBroken when two values differ."""
    expect(
        actual == expected, f"{about} got {_short(actual)}".strip(), f"wanted {_short(expected)}"
    )


def check_each(
    harness: FormatHarness, strategy: st.SearchStrategy[Any], check: Callable[[Any], None]
) -> None:
    """Check some values of a strategy, always the same ones."""
    phases = (Phase.generate, Phase.shrink) if harness.simplify else (Phase.generate,)
    bounds = settings(
        max_examples=harness.examples,
        phases=phases,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )

    def check_asked(value: Any) -> None:
        with suppress(Lacked):
            check(value)

    bounds(given(strategy)(check_asked))()


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def has_client(wire: WireFormat) -> bool:
    return wire.client is not None


def has_vendor(wire: WireFormat) -> bool:
    return wire.vendor is not None


def has_both(wire: WireFormat) -> bool:
    return has_client(wire) and has_vendor(wire)
