"""The case that a vendor tells another process just what it tells this one."""

import json
from collections.abc import Iterator

from gateway_core import ProviderSpec
from gateway_core.plugins import manifest
from gateway_kit.case import Case, expect
from gateway_kit.hook_calls import call_hook

from .harness import ProviderHarness
from .import_probe import import_in_process
from .subject import ProviderUnderTest


def manifest_cases(subject: ProviderUnderTest, together: tuple[str, ...]) -> Iterator[Case]:
    async def run(bench: ProviderHarness) -> None:
        elsewhere = import_in_process(together)[subject.module]["said"].get(subject.spec.id)
        own_entry = json.loads(manifest.document([_as_registered(subject)]))
        expect(elsewhere == own_entry, "another process has another entry in its manifest")

    yield Case(
        name=f"{subject.spec.id}: the same everywhere",
        advice="Declare constants: no time, randomness or environment in a ProviderSpec.",
        run=run,
    )


def _as_registered(subject: ProviderUnderTest) -> ProviderSpec:
    """The vendor as its plugin says it, before the gateway has mended anything."""
    specs: dict[str, ProviderSpec] = {
        spec.id: spec for spec in call_hook(subject.plugin, "register_providers")
    }
    return specs.get(subject.spec.id, subject.spec)
