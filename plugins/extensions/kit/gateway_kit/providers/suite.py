"""The suite of one or several provider plugins: their cases, and a bench that all of them share."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gateway_administration.plugins.tiers import Tier
from gateway_core import ProviderSpec
from gateway_core.plugins import State
from gateway_core.plugins.registry import Registry
from gateway_kit.abilities import unknown
from gateway_kit.case import Case, with_tier
from gateway_kit.installed_formats import build_registry, format_plugins, import_plugin
from gateway_kit.mock_vendor import Dialect

from .case_list import build_cases
from .conformance_options import (
    BadConformanceOptions,
    expected_reason,
    load_dialects,
    read_conformance_options,
)
from .declaration import accepted_case
from .harness import ProviderHarness
from .service_samples import ServiceSample
from .shipped_samples import shipped_samples
from .subject import Account, ProviderUnderTest


class ProviderSuite:
    """``harness`` is opened by the first case that runs and closed by ``close``.

    What a plugin says in its CONFORMANCE holds unless an argument says otherwise. Raises
    BadConformanceOptions.
    """

    def __init__(
        self,
        plugins: tuple[str | object, ...],
        *,
        accounts: Mapping[str, Account] = {},
        thorough: bool | frozenset[str] = True,
        every_client: bool = True,
        answers_itself: frozenset[str] = frozenset(),
        dialects: Mapping[str, Dialect] = {},
        samples: Mapping[str, ServiceSample] = {},
        lacks: Iterable[str] | None = None,
    ) -> None:
        lacks = None if lacks is None else frozenset(lacks)
        wrong = "; ".join(unknown(lacks or ()))
        if wrong:
            raise BadConformanceOptions(wrong)
        self._tested = dict(map(import_plugin, plugins))
        self.modules = tuple(each for each in plugins if isinstance(each, str))
        other_formats = {
            name: plugin
            for name, plugin in format_plugins().items()
            if plugin not in self._tested.values()
        }
        self.plugins = {**other_formats, **self._tested}
        self.registry = build_registry(self.plugins)
        own = {
            module: read_conformance_options(module, plugin)
            for module, plugin in self._tested.items()
        }
        spoken = {
            wire: dialect
            for module, options in own.items()
            for wire, dialect in load_dialects(options, self._tested[module]).items()
        }
        self._options = own
        self.subjects = [
            ProviderUnderTest(
                module=module,
                plugin=self._tested[module],
                spec=spec,
                registry=self.registry,
                account=accounts.get(spec.id) or own[module].accounts.get(spec.id, Account()),
                thorough=thorough if isinstance(thorough, bool) else spec.id in thorough,
                every_client=every_client,
                answers_itself=spec.id in {*answers_itself, *own[module].answers_itself},
                dialects={**spoken, **dialects},
                lacks=frozenset(own[module].lacks) if lacks is None else lacks,
                samples={**shipped_samples(self._tested[module]), **samples},
            )
            for module, spec in _specs(self._tested, self.registry)
        ]
        self.data_dir: Path | None = None
        """Where the harness keeps its gateway's data, once it has been opened."""
        self._runner: asyncio.Runner | None = None
        self._harness: ProviderHarness | None = None
        self._cases: list[Case] = []

    def cases(self) -> list[Case]:
        """Every case, in a fixed order."""
        if not self._cases:
            modules_with_providers = {subject.module for subject in self.subjects}
            first = [
                accepted_case(
                    name, self.registry, {name}, has_providers=name in modules_with_providers
                )
                for name in sorted(self._tested)
            ]
            self._cases = [
                *with_tier(Tier.BRONZE, first),
                *build_cases(self.subjects, self.modules),
            ]
        return self._cases

    def cases_of(self, module: str) -> list[Case]:
        """The cases of one plugin among several."""
        owners = [each.spec.id for each in self.subjects if each.module == module]
        beginnings = tuple(f"{name}: " for name in (module, *owners))
        return [case for case in self.cases() if case.name.startswith(beginnings)]

    def expected_failure(self, case: Case) -> str | None:
        """Why the plugin's author expects this case to fail."""
        reasons = (expected_reason(each, case.name, case.tier) for each in self._options.values())
        return next((reason for reason in reasons if reason is not None), None)

    def run(self, case: Case, data_dir: Path) -> str | None:
        """Run a case; the message of its failure, or ``None``."""
        try:
            if self._runner is None or self._harness is None:
                self._runner, self._harness = (
                    asyncio.Runner(),
                    ProviderHarness(self.plugins, self.subjects),
                )
                self._runner.run(self._harness.open(data_dir))
            runner, harness = self._runner, self._harness
            harness.reset()
            runner.run(case.run(harness))
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            return case.failure(error)
        return None

    def close(self) -> None:
        """Close the harness, if there is one; the next case opens another."""
        if self._runner is not None and self._harness is not None:
            self._runner.run(self._harness.aclose())
            self._runner.close()
        self._runner = self._harness = self.data_dir = None


def _specs(tested: Mapping[str, object], registry: Registry) -> Iterator[tuple[str, ProviderSpec]]:
    """The vendors that the tested plugins bring, with the plugin's name."""
    loaded = {plugin.name for plugin in registry.plugins if plugin.state is State.LOADED}
    for id, spec in registry.providers.items():
        module = registry.provider_plugins[id]
        if module in tested and module in loaded:
            yield module, spec
