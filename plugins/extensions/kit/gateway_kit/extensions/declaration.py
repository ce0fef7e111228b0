"""Cases about what an extension declares: it is taken as it is, and its settings are sound."""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from gateway_core.plugins import load, settings_of
from gateway_core.plugins.setting_fields import declared as settings_declared
from gateway_core.plugins.settings import PluginSettings
from gateway_kit.case import Case, expect, none_of
from gateway_kit.hook_calls import said
from gateway_providers.testing import docstring_faults

from .harness import Bench
from .subject import EXTENDING, Subject

SETTINGS = "register_settings"

Faults = Callable[[Subject], Iterator[str]]


def declared(subject: Subject) -> Iterator[Case]:
    name = subject.module

    async def accepted(bench: Bench) -> None:
        none_of(bench.warnings.told)
        expect(subject.hooks & EXTENDING, "it implements no hook of an extension")

    async def documented(bench: Bench) -> None:
        said = getattr(subject.plugin, "__doc__", None)
        none_of(told for told in docstring_faults(said) if "links" not in told)

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


def _settings(subject: Subject) -> Iterator[Case]:
    for name, (advice, faults) in _SETTINGS.items():
        yield Case(
            name=f"{subject.module}: settings: {name}",
            advice=advice,
            run=partial(_without, faults, subject),
        )


async def _without(faults: Faults, subject: Subject, bench: Bench) -> None:
    none_of(faults(subject))


def _form_faults(subject: Subject) -> Iterator[str]:
    try:
        settings_declared(subject.module, said(subject.plugin, SETTINGS))
    except ValueError as error:
        yield str(error)


def _word_faults(subject: Subject) -> Iterator[str]:
    for field in _in_force(subject, {}).fields(subject.module):
        if not field.description:
            yield f"{field.name} has no description"


def _in_force(subject: Subject, variables: dict[str, str]) -> PluginSettings:
    """The settings that the gateway takes with these variables. Raises Unmet."""
    loaded = load(entry_points=False, extra={subject.module: subject.plugin})
    settings = settings_of(loaded, variables)
    none_of(problem.message for problem in settings.problems)
    return settings


def _variable_faults(subject: Subject) -> Iterator[str]:
    """Each default is put into its own variable and has to come out again."""
    usual = _in_force(subject, {})
    value = msgspec.to_builtins(usual.current(subject.module))
    for field in usual.fields(subject.module):
        default = value[field.name]
        if default is None:
            continue  # a setting that takes text takes the word null as such
        text = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        found = _in_force(subject, {field.variable: text}).current(subject.module)
        if msgspec.to_builtins(found) != value:
            yield f"{field.variable}={text} is read as another value than the default"


def _secret_faults(subject: Subject) -> Iterator[str]:
    for field in _in_force(subject, {}).fields(subject.module):
        if field.secret and field.default:
            yield f"the secret {field.name} has a default"


_SETTINGS: dict[str, tuple[str, Faults]] = {
    "sound": (
        "Give register_settings a frozen Struct in which every field has a default.",
        _form_faults,
    ),
    "described": (
        "Annotate every field with Meta(description=...), which the operator reads.",
        _word_faults,
    ),
    "variables": (
        "Use types of which a process variable can hold a value, as text or as JSON.",
        _variable_faults,
    ),
    "secrets": ("Give a secret no default: everybody can read it in the code.", _secret_faults),
}
