"""Laws of wire formats, as test cases: one line of pytest checks a format against them all.

A format author's whole test file::

    import pytest
    from gateway_format_acme import ACME

    from gateway_kit.formats import Case, format_cases

    @pytest.mark.parametrize("case", format_cases(ACME), ids=str)
    def test_the_format_keeps_the_laws(case: Case) -> None:
        case.check()
"""

from collections.abc import Mapping

from gateway_core import WireFormat

from . import declarations, errors, relays, replies, requests, streams
from .case import FormatCase, Law, LawBroken
from .harness import FormatHarness, RecordedError, Samples

__all__ = ["LAWS", "FormatCase", "Law", "LawBroken", "RecordedError", "Samples", "format_cases"]

LAWS: tuple[Law, ...] = (
    *declarations.LAWS,
    *requests.LAWS,
    *replies.LAWS,
    *streams.LAWS,
    *errors.LAWS,
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
) -> list[FormatCase]:
    """A case for each law that applies to what ``wire`` declares.

    ``samples`` are checked beside what is generated; a format without a client
    side has no other answers and streams to be checked with. ``model`` and
    ``options`` are the target's, for a format whose requests depend on them.
    ``examples`` bounds how many values of each strategy a law is tried with; with
    ``simplify`` the one that breaks it is made as small as possible before it is shown.
    """
    bench = FormatHarness(
        wire,
        samples or Samples(),
        model=model,
        options=options or {},
        examples=examples,
        simplify=simplify,
    )
    return [FormatCase(law, bench) for law in LAWS if law.needs(wire)]
