"""Plugins that hang hold up a start together hardly longer than one of them, whatever they hang at.

The bound is read from what is reported and from the guard: no time is measured.
"""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest
from msgspec import Struct

from gateway_core import hookimpl
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.plugins.guard import LEAST, SHARE, LoadGuard
from gateway_core.plugins.registry import EARLY_HOOKS

HOOKS = ("register_settings", *EARLY_HOOKS, "register_routes", "lifespan")
STAGES = 2 + len(HOOKS) + 3
"""Imports, registrations, hooks; declared settings, checks of them, lifespans that begin."""
LIMIT = 1.6
WITHIN = re.compile(r"did not (?:finish|begin) within ([0-9.]+) s")


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_the_stages_of_a_start_share_one_patience() -> None:
    guard, waited = LoadGuard(from_environ({}).plugin_timeout_ms / 1000), 0.0

    for _ in range(STAGES):
        waited += guard.patience
        guard.lose_patience()

    assert guard.limit == 4
    assert waited == 8.5
    assert guard.patience == LEAST


def test_a_stage_in_which_many_hang_costs_patience_once(release: threading.Event) -> None:
    guard = LoadGuard(LIMIT)

    guard.run_all([release.wait] * 5)

    assert guard.patience == LIMIT * SHARE


def test_works_in_turn_that_hang_cost_patience_each(release: threading.Event) -> None:
    guard = LoadGuard(LIMIT)

    outcomes = guard.run_all([release.wait] * 3, in_turn=True)

    assert [str(each) for each in outcomes] == [
        f"did not finish within {limit:g} s" for limit in (1.6, 0.4, 0.25)
    ]


def test_a_stage_in_which_nothing_hangs_costs_none() -> None:
    guard = LoadGuard(LIMIT)

    guard.run_all([lambda: 1, lambda: 1 // 0])

    assert guard.patience == LIMIT


def hanging(hook: str, release: threading.Event) -> ModuleType:
    module = ModuleType(f"hangs_in_{hook}")
    setattr(module, hook, hookimpl(lambda: release.wait()))
    return module


def hanging_check(release: threading.Event) -> ModuleType:
    class Settings(Struct, frozen=True, kw_only=True):
        size: int = 0

        def __post_init__(self) -> None:
            if self.size:
                release.wait()

    module = ModuleType("hangs_in_its_check")
    module.register_settings = hookimpl(lambda: Settings)  # type: ignore[attr-defined]
    return module


def hanging_lifespan() -> ModuleType:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    module = ModuleType("hangs_when_it_begins")
    module.lifespan = hookimpl(lambda: lifespan())  # type: ignore[attr-defined]
    return module


def hanging_registration(release: threading.Event) -> object:
    class Hangs:
        def __dir__(self) -> list[str]:
            release.wait()
            return []

    return Hangs()


@pytest.mark.anyio
async def test_plugins_that_hang_at_every_stage_share_one_patience(
    tmp_path: Path, release: threading.Event
) -> None:
    extra: dict[str, object] = {hook.replace("_", "-"): hanging(hook, release) for hook in HOOKS}
    extra["check"] = hanging_check(release)
    extra["begins"] = hanging_lifespan()
    extra["registration"] = hanging_registration(release)
    variables = {
        "DATA_DIR": str(tmp_path),
        "GATEWAY_PLUGIN_TIMEOUT_MS": str(round(LIMIT * 1000)),
    }

    async with Gateway.open(
        from_environ(variables),
        extra_plugins=extra,
        installed_plugins=False,
        plugin_settings={"check": {"size": 1}},
    ) as gateway:
        problems = gateway.core.snapshot.registry.problems

    waited = {
        each.plugin: float(found[1]) for each in problems if (found := WITHIN.search(each.message))
    }
    assert waited.keys() == extra.keys()
    assert sorted(waited.values(), reverse=True) == [1.6, 0.4, *[LEAST] * (len(extra) - 2)]
