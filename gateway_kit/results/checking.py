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

from gateway_core.plugins.discovery import Found
from gateway_core.plugins.files import digest_of
from gateway_core.plugins.tiers import Tier
from gateway_kit.providers import Suite
from gateway_kit.providers.live import ask_live, has_key, live_routes
from gateway_kit.providers.probe import imported

from .given import Given, given_by
from .outcome import Failure, Results, reached
from .roles import Step, steps

PROTOCOL = "GATEWAY_PROTOCOL"
"""A plugin's own name for the version of the hook protocol that it speaks."""

Progress = Callable[[int, int, str], None]
"""Given how many cases are done, how many there are and the name of the next."""


def check(
    found: Found,
    *,
    given: Given | None = None,
    live: bool = False,
    progress: Progress = lambda done, of, name: None,
    clock: Callable[[], float] = time.time,
) -> Results:
    """Run every case of a plugin. With ``live`` ask the real vendor too, if a key is there.

    Raises what importing the plugin raises, and ImportError without pytest and hypothesis.
    """
    begun = time.monotonic()
    imported.cache_clear()  # the files may have changed since this process last looked
    plugin = found.load()
    known = given or given_by(found.module, plugin)
    with ExitStack() as closing:
        folder = Path(closing.enter_context(TemporaryDirectory(prefix="gateway-kit-")))
        every = list(steps(found.module, plugin, known, folder, closing))
        if live:
            every += _live_steps(found.module, known, folder)
        failures = tuple(_failures(every, progress))
    seen = any(step.tier is Tier.PLATINUM for step in every)
    failed = [failure.tier for failure in failures]
    is_live = seen and Tier.PLATINUM not in failed
    return Results(
        plugin=found.name,
        module=found.module,
        digest=digest_of(found),
        protocol=int(getattr(plugin, PROTOCOL, 1)),
        kit=_version(),
        tier=reached([step.tier for step in every], failed, live=is_live),
        cases=len(every),
        failures=failures,
        seconds=round(time.monotonic() - begun, 1),
        live=is_live,
        checked_at=datetime.fromtimestamp(clock(), UTC).isoformat(timespec="seconds"),
    )


def _failures(every: list[Step], progress: Progress) -> Iterator[Failure]:
    for done, step in enumerate(every):
        progress(done, len(every), step.name)
        message = step.run()
        if message is not None:
            yield Failure(case=step.name, message=message, tier=step.tier)
    progress(len(every), len(every), "")


def _live_steps(module: str, given: Given, folder: Path) -> Iterator[Step]:
    """The real vendor, for each provider whose process variable is set."""
    suite = Suite((module,), accounts=given.accounts)
    for subject in suite.subjects:
        for route, stream in live_routes(subject) if has_key(subject) else ():
            way = "stream" if stream else "whole"
            name = f"{subject.spec.id}: {route}-{way}: live"
            own = folder / f"live-{subject.spec.id}-{way}"
            ask = partial(ask_live, subject, suite.plugins, route, own, stream=stream)
            yield Step(name=name, tier=Tier.PLATINUM, run=partial(_asked, name, ask))


def _asked(name: str, ask: Callable[[], Coroutine[Any, Any, None]]) -> str | None:
    try:
        asyncio.run(ask())
    except Exception as error:  # whatever went wrong is what the author is told
        return f"{name}: {error}"
    return None


def _version() -> str:
    try:
        return version("model-gateway")
    except PackageNotFoundError:
        return "0"
