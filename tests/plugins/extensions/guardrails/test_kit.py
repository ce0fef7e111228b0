"""The conformance kit's cases for extensions, with rules in force."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import gateway_extension_guardrails as guardrails
from gateway_extension_guardrails.guards import AnswerGuard, RequestGuard
from gateway_extension_guardrails.rule import Rule
from gateway_kit.extensions.suite import ExtensionSuite

from gateway_core import Call, hookimpl

T = TypeVar("T", bound=Any)
RULES = (
    Rule(name="secrets", kind="secrets", action="redact"),
    Rule(name="personal", kind="personal", action="redact"),
    Rule(name="words", kind="pattern", patterns=("forbidden word",)),
    Rule(name="long", kind="length", most=1_000_000, action="flag"),
)


class Standing:
    """What the guards need of a gateway; the kit calls them outside of one."""

    settings = guardrails.Settings(rules=RULES)

    def names_of_call(self, call: Call) -> frozenset[str]:
        return frozenset((call.model,))

    def names_of_key(self, call: Call) -> frozenset[str]:
        return frozenset()


def connected(guard: T) -> list[T]:
    guard.connect(Standing())
    return [guard]


def failures(plugin: object, folder: Path) -> dict[str, str]:
    suite = ExtensionSuite(plugin)
    try:
        results = {case.name: suite.run(case, folder) for case in suite.cases()}
    finally:
        suite.close()
    assert len(results) > 30
    return {name: failure for name, failure in results.items() if failure is not None}


def test_every_case_passes_while_rules_are_in_force(tmp_path: Path) -> None:
    plugin = SimpleNamespace(
        GATEWAY_PROTOCOL=1,
        __doc__=guardrails.__doc__,
        register_settings=guardrails.register_settings,
        register_interceptors=hookimpl(lambda: connected(RequestGuard())),
        register_answer_filters=hookimpl(lambda: connected(AnswerGuard())),
    )

    assert failures(plugin, tmp_path) == {}
