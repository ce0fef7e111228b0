"""Cases about importing a plugin: no network, no waiting, nothing private, nothing random."""

from collections.abc import Iterator
from typing import Any

from gateway_kit.case import Case, expect

from .harness import Bench
from .import_probe import imported
from .source_imports import import_faults

LONGEST = 0.5
"""Seconds of work or of waiting, on a busy machine; the usual is a hundredth of that."""
HEAVY = {"botocore", "boto3", "google.auth", "cryptography", "numpy", "torch", "openai"}


def importing(module: str, together: tuple[str, ...]) -> Iterator[Case]:
    """``together`` are the plugins that are imported in one process, this one among them."""

    def seen() -> dict[str, Any]:
        found: dict[str, Any] = imported(together)[module]
        return found

    async def quiet(bench: Bench) -> None:
        expect(seen()["trouble"] is None, str(seen()["trouble"]))

    async def quick(bench: Bench) -> None:
        for what in ("work", "idle"):
            expect(seen()[what] < LONGEST, f"{seen()[what]:.2f} seconds of {what}")
        heavy = sorted(HEAVY.intersection(seen()["new"]))
        expect(not heavy, f"it imports {', '.join(heavy)}")

    async def own(bench: Bench) -> None:
        told = list(import_faults(module))
        expect(not told, "; ".join(told))

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
