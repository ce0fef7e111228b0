"""The suite of one extension: its cases, and the harness that they share."""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway_administration.plugins.tiers import Tier
from gateway_core.plugins import load
from gateway_kit.case import Case, with_tier
from gateway_kit.installed_formats import format_plugins, import_plugin, installed_plugin
from gateway_kit.providers.imports import import_cases

from .answer_filters import answer_filter_cases
from .commands import command_cases
from .declaration import declaration_cases
from .harness import ExtensionHarness
from .interceptors import interceptor_cases
from .lifespan import lifespan_cases
from .media import media_cases
from .registered import registered_cases
from .rewriting import rewriting_cases
from .routes import route_cases
from .subject import ANSWERS, ExtensionUnderTest

DASHBOARD = "dashboard"
SERVING = frozenset(
    {
        *("lifespan", "register_interceptors", "register_routes", ANSWERS),
        *("register_shared_state", "register_file_contents", "register_observation"),
    }
)
"""Hooks whose work has a beginning and an end."""


class ExtensionSuite:
    """``public`` are the paths that are meant for everybody; ``None`` does not ask.

    ``settings`` are values with which it does its work, where the usual ones leave it idle.
    ``trusted`` is for an extension that an operator has to trust with the whole gateway.
    ``together`` are modules that are imported in one process, to spare others.
    """

    def __init__(
        self,
        plugin: str | object,
        *,
        public: Collection[str] | None = None,
        trusted: bool = False,
        settings: Mapping[str, Any] = {},
        together: tuple[str, ...] = (),
    ) -> None:
        module, imported = import_plugin(plugin)
        loaded = load(entry_points=False, extra={module: imported})
        self._together = together or (module,)
        self.modules = (module,) if isinstance(plugin, str) else ()
        self.subject = ExtensionUnderTest(
            module=module,
            plugin=imported,
            hooks=frozenset(hook for each in loaded.plugins for hook in each.hooks),
            public=None if public is None else frozenset(public),
            trusted=trusted,
            settings=settings,
        )
        self.data_dir: Path | None = None
        """Where the harness keeps its gateway's data, once it has been opened."""
        self._runner: asyncio.Runner | None = None
        self._harness: ExtensionHarness | None = None
        self._cases: list[Case] = []

    def cases(self) -> list[Case]:
        """Every case, in a fixed order."""
        if not self._cases:
            self._cases = list(self._build_cases())
        return self._cases

    def run(self, case: Case, data_dir: Path) -> str | None:
        """Run a case; the message of its failure, or ``None``."""
        try:
            if self._runner is None or self._harness is None:
                self._runner = asyncio.Runner()
                self._harness = ExtensionHarness(
                    self.subject, format_plugins(), _dashboard(self.subject.plugin)
                )
            runner, harness = self._runner, self._harness
            runner.run(harness.ready(data_dir, case))
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

    def _build_cases(self) -> Iterator[Case]:
        subject = self.subject
        for module in self.modules:
            yield from with_tier(Tier.BRONZE, import_cases(module, self._together))
        yield from with_tier(Tier.BRONZE, declaration_cases(subject))
        if "register_interceptors" in subject.hooks:
            yield from with_tier(Tier.SILVER, interceptor_cases(subject))
            yield from with_tier(Tier.SILVER, rewriting_cases(subject))
            yield from with_tier(Tier.SILVER, media_cases(subject))
        if ANSWERS in subject.hooks:
            yield from with_tier(Tier.SILVER, answer_filter_cases(subject))
        if "register_routes" in subject.hooks:
            yield from with_tier(Tier.SILVER, route_cases(subject))
        yield from registered_cases(subject)
        if "register_commands" in subject.hooks:
            yield from with_tier(Tier.SILVER, command_cases(subject))
        if subject.hooks & SERVING:
            yield from with_tier(Tier.GOLD, lifespan_cases(subject))


def _dashboard(tested: object) -> object:
    """The installed management routes, unless they are what is tested; ``None`` without any."""
    plugin = installed_plugin(DASHBOARD)
    return None if plugin is tested else plugin
