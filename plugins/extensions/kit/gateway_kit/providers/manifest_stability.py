"""The case that a provider declares the same in every process."""

import json
from collections.abc import Iterator

from gateway_administration.plugins import manifest
from gateway_core import ProviderSpec
from gateway_kit.case import Case, expect
from gateway_kit.hook_calls import call_hook

from .harness import ProviderHarness
from .import_probe import import_in_process
from .subject import ProviderUnderTest


def manifest_cases(subject: ProviderUnderTest, together: tuple[str, ...]) -> Iterator[Case]:
    async def run(harness: ProviderHarness) -> None:
        elsewhere = import_in_process(together)[subject.module]["said"].get(subject.spec.id)
        # As its hook returns it, before the gateway has filled anything in.
        specs: dict[str, ProviderSpec] = {
            spec.id: spec for spec in call_hook(subject.plugin, "register_providers")
        }
        spec = specs.get(subject.spec.id, subject.spec)
        own_entry = json.loads(manifest.document([spec]))
        expect(elsewhere == own_entry, "another process has another entry in its manifest")

    yield Case(
        name=f"{subject.spec.id}: the same everywhere",
        advice="Declare constants: no time, randomness or environment in a ProviderSpec.",
        run=run,
    )
