"""Laws of wire formats, as test cases: one line of pytest checks a format against them all.

A format author's whole test file::

    import pytest
    from gateway_format_acme import ACME

    from gateway_kit.formats import Case, format_cases

    @pytest.mark.parametrize("case", format_cases(ACME), ids=str)
    def test_the_format_keeps_the_laws(case: Case) -> None:
        case.check()
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gateway_core import WireFormat
from gateway_kit.abilities import unknown

from . import (
    agreement,
    asked,
    conduct,
    declarations,
    error_bodies,
    errors,
    marks,
    read_again,
    relays,
    replies,
    requests,
    shown,
    stream_conduct,
    streams,
)
from .case import FormatCase, Law, LawBroken
from .harness import FormatHarness, RecordedError, Samples

__all__ = ["LAWS", "FormatCase", "Law", "LawBroken", "RecordedError", "Samples", "format_cases"]

LAWS: tuple[Law, ...] = (
    *declarations.LAWS,
    *conduct.LAWS,
    *asked.LAWS,
    *requests.LAWS,
    *read_again.LAWS,
    *marks.LAWS,
    *replies.LAWS,
    *shown.LAWS,
    *streams.LAWS,
    *agreement.LAWS,
    *stream_conduct.LAWS,
    *errors.LAWS,
    *error_bodies.LAWS,
    *relays.LAWS,
)


def format_cases(
    wire: WireFormat,
    samples: Samples | None = None,
    *,
    model: str = "kit-model",
    options: Mapping[str, str | bool] | None = None,
    examples: int = 20,
    simplify: bool = True,
    bodies: Mapping[str, Mapping[str, Any] | None] | None = None,
    lacks: Iterable[str] = (),
) -> list[FormatCase]:
    """A case for each law that applies to what ``wire`` declares.

    ``samples`` are checked beside what is generated; a format without a client
    side has no other answers and streams to be checked with. ``model`` and
    ``options`` are the target's, for a format whose requests depend on them.
    ``examples`` bounds how many values of each strategy a law is tried with; with
    ``simplify`` the one that breaks it is made as small as possible before it is shown.
    ``bodies`` are what clients send, by the names of ``asked.ASKED``, for a format without a
    vendor side. What the format ``lacks``, by the names of ``gateway_kit.ABILITIES``, is
    asked for in one law alone, which wants it refused with BadRequest or named in losses.
    Raises ValueError for a name that is none of these.
    """
    wrong = "; ".join(unknown(lacks := tuple(lacks)))
    if wrong:
        raise ValueError(wrong)
    harness = FormatHarness(
        wire,
        samples or Samples(),
        model=model,
        options=options or {},
        examples=examples,
        simplify=simplify,
        bodies=bodies or {},
        lacks=frozenset(lacks),
    )
    laws = (*LAWS, *marks.LACKING) if lacks else LAWS
    return [FormatCase(law, harness) for law in laws if law.needs(wire)]
