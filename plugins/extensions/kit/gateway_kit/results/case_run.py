"""Running a plugin's cases, one after the other."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateway_administration.plugins.tiers import Tier
from gateway_core.plugins.discovery import Found
from gateway_core.plugins.files import digest_of
from gateway_core.plugins.protocol import MARK, UNSAID
from gateway_kit.providers import ProviderSuite
from gateway_kit.providers.conformance_options import (
    ConformanceOptions,
    expected_reason,
    read_conformance_options,
)
from gateway_kit.providers.declaration import EXERCISED
from gateway_kit.providers.import_probe import import_in_process
from gateway_kit.providers.live import ask_live, has_key, live_routes

from .outcome import ExpectedFailure, Failure, Results, reached_tier
from .steps import Step, build_steps

Progress = Callable[[int, int, str], None]
"""Given how many cases are done, how many there are and the name of the next."""


class NoKey(Exception):
    """A live check is not possible. The message says why."""


def check(
    plugin_found: Found,
    *,
    options: ConformanceOptions | None = None,
    live: bool = False,
    stop_after: frozenset[str] | None = None,
    progress: Progress = lambda done, of, name: None,
    clock: Callable[[], float] = time.time,
) -> Results:
    """Run every case of a plugin. With ``live`` ask the real vendor too, if a key is there.

    With ``stop_after`` the first failure ends the run, unless its case is among these.

    Raises what importing the plugin raises, BadConformanceOptions, NoKey and
    MissingRequirement.
    """
    started = time.monotonic()
    import_in_process.cache_clear()  # the files may have changed since this process last looked
    plugin = plugin_found.load()
    conformance = options or read_conformance_options(plugin_found.module, plugin)
    with ExitStack() as closing:
        folder = Path(closing.enter_context(TemporaryDirectory(prefix="gateway-kit-")))
        steps_to_run = list(build_steps(plugin_found.module, plugin, conformance, folder, closing))
        if live:
            steps_to_run += _live_steps(plugin_found.module, conformance, folder)
            if steps_to_run[-1].tier is not Tier.PLATINUM:
                suite = ProviderSuite((plugin_found.module,), accounts=conformance.accounts)
                specs = [subject.spec for subject in suite.subjects]
                variables = dict.fromkeys(name for spec in specs for name in spec.environment)
                reason = "none of its vendors takes a key from a variable, so none can be asked"
                if variables:
                    names = " or ".join(variables)
                    reason = f"there is no key to ask the vendor with; set {names}"
                raise NoKey(reason)
        failures, expected = [], []
        for done, step in enumerate(steps_to_run):
            progress(done, len(steps_to_run), step.name)
            message = step.run()
            excuse = expected_reason(conformance, step.name, step.tier)
            if excuse is not None and message is not None:
                expected.append(ExpectedFailure(case=step.name, reason=excuse))
                continue
            if excuse is not None:
                message = f"{step.name}: It passes: take it out of the expected failures."
            if message is not None:
                failures.append(Failure(case=step.name, message=message, tier=step.tier))
                if stop_after is not None and step.name not in stop_after:
                    break
        progress(len(steps_to_run), len(steps_to_run), "")
    failed = [failure.tier for failure in failures]
    is_live = Tier.PLATINUM not in failed and any(
        step.tier is Tier.PLATINUM for step in steps_to_run
    )
    protocol = getattr(plugin, MARK, UNSAID)
    excepted = {each.case for each in expected}
    counted = [step.tier for step in steps_to_run if step.name not in excepted]
    if any(name.endswith(EXERCISED) for name in excepted):
        counted = [tier for tier in counted if tier is Tier.BRONZE]  # no case, no tier
    return Results(
        plugin=plugin_found.name,
        module=plugin_found.module,
        digest=digest_of(plugin_found),
        # The gateway refuses an invalid version, such as True, which is an int in Python.
        protocol=protocol if type(protocol) is int else UNSAID,
        kit=_version(),
        tier=reached_tier(counted, failed, live=is_live),
        cases=len(steps_to_run),
        failures=tuple(failures),
        seconds=round(time.monotonic() - started, 1),
        live=is_live,
        expected=tuple(expected),
        lacks=conformance.lacks,
        clients=next((step.clients for step in steps_to_run if step.clients), ()),
        checked_at=datetime.fromtimestamp(clock(), UTC).isoformat(timespec="seconds"),
    )


def _live_steps(module: str, options: ConformanceOptions, folder: Path) -> Iterator[Step]:
    """The real vendor, for each provider whose process variable is set."""
    suite = ProviderSuite((module,), accounts=options.accounts)
    for subject in suite.subjects:
        for route, stream in live_routes(subject) if has_key(subject) else ():
            way = "stream" if stream else "whole"
            name = f"{subject.spec.id}: {route}-{way}: live"
            own = folder / f"live-{subject.spec.id}-{way}"
            ask = partial(ask_live, subject, suite.plugins, route, own, stream=stream)
            yield Step(name=name, tier=Tier.PLATINUM, run=partial(_ask_vendor, name, ask))


def _ask_vendor(name: str, ask: Callable[[], Coroutine[Any, Any, None]]) -> str | None:
    try:
        asyncio.run(ask())
    except Exception as error:  # any error is reported to the author
        return f"{name}: {error}"
    return None


def _version() -> str:
    try:
        return version("model-gateway")
    except PackageNotFoundError:
        return "0"
