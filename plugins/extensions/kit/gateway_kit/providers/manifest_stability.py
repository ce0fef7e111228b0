"""The case that a vendor tells another process just what it tells this one."""

import json
from collections.abc import Iterator

from gateway_core import ProviderSpec
from gateway_core.plugins import manifest
from gateway_kit.case import Case, expect
from gateway_kit.hook_calls import said

from .harness import Bench
from .import_probe import imported
from .subject import Subject


def manifest_again(subject: Subject, together: tuple[str, ...]) -> Iterator[Case]:
    async def run(bench: Bench) -> None:
        said = imported(together)[subject.module]["said"].get(subject.spec.id)
        here = json.loads(manifest.document([_as_registered(subject)]))
        expect(said == here, "another process has another entry in its manifest")

    yield Case(
        name=f"{subject.spec.id}: the same everywhere",
        advice="Declare constants: no time, randomness or environment in a ProviderSpec.",
        run=run,
    )


def _as_registered(subject: Subject) -> ProviderSpec:
    """The vendor as its plugin says it, before the gateway has mended anything."""
    told: dict[str, ProviderSpec] = {
        spec.id: spec for spec in said(subject.plugin, "register_providers")
    }
    return told.get(subject.spec.id, subject.spec)
