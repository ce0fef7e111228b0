"""Cases about what an extension declares: it is taken as it is, and its settings are sound."""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from gateway_core.plugins import load, settings_of
from gateway_core.plugins.setting_fields import declared as settings_declared
from gateway_core.plugins.settings import PluginSettings
from gateway_kit.case import Case, expect, expect_none
from gateway_kit.hook_calls import call_hook
from gateway_providers.testing import docstring_faults

from .harness import ExtensionHarness
from .subject import EXTENDING, ExtensionUnderTest

SETTINGS = "register_settings"

Faults = Callable[[ExtensionUnderTest], Iterator[str]]


SETTINGS_CASES: dict[str, tuple[str, Faults]] = {}
"""By the case's name: its advice and what finds the faults."""


def settings_case(name: str, advice: str) -> Callable[[Faults], Faults]:
    """Add a case about settings to SETTINGS_CASES."""

    def add(faults: Faults) -> Faults:
        SETTINGS_CASES[name] = (advice, faults)
        return faults

    return add


def declaration_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    name = subject.module

    async def accepted(bench: ExtensionHarness) -> None:
        expect_none(bench.warnings.messages)
        expect(subject.hooks & EXTENDING, "it implements no hook of an extension")

    async def documented(bench: ExtensionHarness) -> None:
        docstring = getattr(subject.plugin, "__doc__", None)
        expect_none(fault for fault in docstring_faults(docstring) if "links" not in fault)

    yield Case(
        name=f"{name}: accepted",
        advice="Correct what the gateway refuses of what the hooks return.",
        run=accepted,
    )
    yield Case(
        name=f"{name}: documented",
        advice="Say in the module's docstring what the extension is for.",
        run=documented,
    )
    if SETTINGS in subject.hooks:
        yield from _settings(subject)


def _settings(subject: ExtensionUnderTest) -> Iterator[Case]:
    for name, (advice, faults) in SETTINGS_CASES.items():
        yield Case(
            name=f"{subject.module}: settings: {name}",
            advice=advice,
            run=partial(_without, faults, subject),
        )


async def _without(faults: Faults, subject: ExtensionUnderTest, bench: ExtensionHarness) -> None:
    expect_none(faults(subject))


@settings_case(
    "sound", "Give register_settings a frozen Struct in which every field has a default."
)
def form_faults(subject: ExtensionUnderTest) -> Iterator[str]:
    try:
        settings_declared(subject.module, call_hook(subject.plugin, SETTINGS))
    except ValueError as error:
        yield str(error)


@settings_case(
    "described", "Annotate every field with Meta(description=...), which the operator reads."
)
def description_faults(subject: ExtensionUnderTest) -> Iterator[str]:
    for field in _in_force(subject, {}).fields(subject.module):
        if not field.description:
            yield f"{field.name} has no description"


def _in_force(subject: ExtensionUnderTest, variables: dict[str, str]) -> PluginSettings:
    """The settings that the gateway takes with these variables. Raises Unmet."""
    loaded = load(entry_points=False, extra={subject.module: subject.plugin})
    settings = settings_of(loaded, variables)
    expect_none(problem.message for problem in settings.problems)
    return settings


@settings_case(
    "variables", "Use types of which a process variable can hold a value, as text or as JSON."
)
def variable_faults(subject: ExtensionUnderTest) -> Iterator[str]:
    """Each default is put into its own variable and has to come out again."""
    usual = _in_force(subject, {})
    value = msgspec.to_builtins(usual.current(subject.module))
    for field in usual.fields(subject.module):
        default = value[field.name]
        if default is None:
            continue  # a setting that takes text takes the word null as such
        text = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        read_back = _in_force(subject, {field.variable: text}).current(subject.module)
        if msgspec.to_builtins(read_back) != value:
            yield f"{field.variable}={text} is read as another value than the default"


@settings_case("secrets", "Give a secret no default: everybody can read it in the code.")
def secret_faults(subject: ExtensionUnderTest) -> Iterator[str]:
    for field in _in_force(subject, {}).fields(subject.module):
        if field.secret and field.default:
            yield f"the secret {field.name} has a default"
