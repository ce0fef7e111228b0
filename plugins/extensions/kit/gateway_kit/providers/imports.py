"""Cases about importing a plugin: no network, no waiting, nothing private, nothing random."""

from collections.abc import Iterator
from typing import Any

from gateway_kit.case import Case, expect

from .harness import ProviderHarness
from .import_probe import import_in_process
from .source_imports import import_faults

LONGEST = 0.5
"""Seconds of work or of waiting, on a busy machine; the usual is a hundredth of that."""
HEAVY = {"botocore", "boto3", "google.auth", "cryptography", "numpy", "torch", "openai"}


def import_cases(module: str, together: tuple[str, ...]) -> Iterator[Case]:
    """``together`` are the plugins that are imported in one process, this one among them."""

    def read_report() -> dict[str, Any]:
        report: dict[str, Any] = import_in_process(together)[module]
        return report

    async def quiet(bench: ProviderHarness) -> None:
        expect(read_report()["trouble"] is None, str(read_report()["trouble"]))

    async def quick(bench: ProviderHarness) -> None:
        for what in ("work", "idle"):
            expect(read_report()[what] < LONGEST, f"{read_report()[what]:.2f} seconds of {what}")
        heavy = sorted(HEAVY.intersection(read_report()["new"]))
        expect(not heavy, f"it imports {', '.join(heavy)}")

    async def own(bench: ProviderHarness) -> None:
        faults = list(import_faults(module))
        expect(not faults, "; ".join(faults))

    yield Case(
        name=f"{module}: imports in peace",
        advice="Importing and registering must not fail, nor open a connection or look up a name.",
        run=quiet,
    )
    yield Case(
        name=f"{module}: imports quickly",
        advice="Import large libraries, and do slow work, inside the function that needs it.",
        run=quick,
    )
    yield Case(
        name=f"{module}: imports what stays",
        advice="Import only what gateway_core exports at its top, its toolkits and your own.",
        run=own,
    )
