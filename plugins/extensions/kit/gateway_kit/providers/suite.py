"""The suite of one or several provider plugins: their cases, and a bench that all of them share."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from gateway_core import Kind, ProviderSpec
from gateway_core.plugins import State
from gateway_core.plugins.registry import Registry
from gateway_core.plugins.tiers import Tier
from gateway_kit.case import Case, ranked
from gateway_kit.installed_formats import format_plugins, named, registry_of
from gateway_kit.mock_vendor import Dialect

from .case_list import collected
from .declaration import accepted
from .harness import Bench
from .service_samples import ServiceSample
from .subject import Account, Subject


class Suite:
    """``bench`` is opened by the first case that runs and closed by whoever opened it."""

    def __init__(
        self,
        plugins: tuple[str | object, ...],
        *,
        accounts: Mapping[str, Account] = {},
        thorough: bool | frozenset[str] = True,
        every_client: bool = True,
        answers_itself: frozenset[str] = frozenset(),
        dialects: Mapping[str, Dialect] = {},
        samples: Mapping[Kind, ServiceSample] = {},
    ) -> None:
        self._tested = dict(map(named, plugins))
        self.modules = tuple(each for each in plugins if isinstance(each, str))
        beside = {
            name: plugin
            for name, plugin in format_plugins().items()
            if plugin not in self._tested.values()
        }
        self.plugins = {**beside, **self._tested}
        self.registry = registry_of(self.plugins)
        self.subjects = [
            Subject(
                module=module,
                plugin=self._tested[module],
                spec=spec,
                registry=self.registry,
                account=accounts.get(spec.id, Account()),
                thorough=thorough if isinstance(thorough, bool) else spec.id in thorough,
                every_client=every_client,
                answers_itself=spec.id in answers_itself,
                dialects=dialects,
                samples=samples,
            )
            for module, spec in _specs(self._tested, self.registry)
        ]
        self.data_dir: Path | None = None
        """Where the bench keeps its gateway's data, once it has been opened."""
        self._runner: asyncio.Runner | None = None
        self._bench: Bench | None = None
        self._cases: list[Case] = []

    def cases(self) -> list[Case]:
        """Every case, in a fixed order."""
        if not self._cases:
            self._cases = self._collected()
        return self._cases

    def _collected(self) -> list[Case]:
        found = {subject.module for subject in self.subjects}
        first = [
            accepted(name, self.registry, {name}, found=name in found)
            for name in sorted(self._tested)
        ]
        return [*ranked(Tier.BRONZE, first), *collected(self.subjects, self.modules)]

    def cases_of(self, module: str) -> list[Case]:
        """The cases of one plugin among several."""
        owners = [each.spec.id for each in self.subjects if each.module == module]
        beginnings = tuple(f"{name}: " for name in (module, *owners))
        return [case for case in self.cases() if case.name.startswith(beginnings)]

    def run(self, case: Case, data_dir: Path) -> str | None:
        """Run a case; the message of its failure, or ``None``."""
        try:
            runner, bench = self._opened(data_dir)
            bench.begin()
            runner.run(case.run(bench))
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            return case.failure(error)
        return None

    def close(self) -> None:
        """Close the bench, if there is one; the next case opens another."""
        if self._runner is not None and self._bench is not None:
            self._runner.run(self._bench.aclose())
            self._runner.close()
        self._runner = self._bench = self.data_dir = None

    def _opened(self, data_dir: Path) -> tuple[asyncio.Runner, Bench]:
        if self._runner is None or self._bench is None:
            self._runner, self._bench = asyncio.Runner(), Bench(self.plugins, self.subjects)
            self._runner.run(self._bench.open(data_dir))
        return self._runner, self._bench


def _specs(tested: Mapping[str, object], registry: Registry) -> Iterator[tuple[str, ProviderSpec]]:
    """The vendors that the tested plugins bring, with the plugin's name."""
    loaded = {plugin.name for plugin in registry.plugins if plugin.state is State.LOADED}
    for id, spec in registry.providers.items():
        module = registry.provider_plugins[id]
        if module in tested and module in loaded:
            yield module, spec
