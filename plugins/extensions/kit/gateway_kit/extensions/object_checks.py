"""Checks of the objects that one hook of an extension gives, such as interceptors."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from gateway_kit.case import Case, expect
from gateway_kit.hook_calls import call_hook

from .harness import ExtensionHarness
from .subject import ExtensionUnderTest

Check = Callable[[ExtensionHarness, Any], Awaitable[None]]
"""Of one object."""


class ObjectChecks:
    """Checks by their names, in the order in which they run."""

    def __init__(self, label: str, hook: str, kind: str) -> None:
        """``label`` begins the cases' names; ``kind`` is what the hook registers."""
        self._label, self._hook, self._kind = label, hook, kind
        self._checks: dict[str, tuple[str, Check]] = {}

    def add(self, name: str, advice: str) -> Callable[[Check], Check]:
        """Decorates a check."""

        def add(function: Check) -> Check:
            self._checks[name] = (advice, function)
            return function

        return add

    def cases(self, subject: ExtensionUnderTest) -> Iterator[Case]:
        """A case for each check, of every object."""
        for name, (advice, check) in self._checks.items():
            yield Case(
                name=f"{subject.module}: {self._label}: {name}",
                advice=advice,
                run=self._each(subject, check),
            )

    def _each(
        self, subject: ExtensionUnderTest, check: Check
    ) -> Callable[[ExtensionHarness], Coroutine[Any, Any, None]]:
        async def run(harness: ExtensionHarness) -> None:
            registered = list(call_hook(subject.plugin, self._hook))
            expect(registered, f"it registers no {self._kind}")
            for each in registered:
                await check(harness, each)

        return run
