"""A plugin's cases by what it brings: providers, wire formats, an extension."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from msgspec import Struct

from gateway_core import WireFormat
from gateway_core.plugins.registry import Registry
from gateway_core.plugins.tiers import Tier
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.extensions.subject import EXTENDING
from gateway_kit.installed_formats import (
    DEFAULT_FORMAT,
    INSTALL_DEFAULT_FORMAT,
    build_registry,
    format_plugins,
)
from gateway_kit.providers import ProviderSuite

from .conformance_options import ConformanceOptions

_ANY_WORK = ("code/", "declared/facts")
_BRONZE, _SILVER = ("declared", "code"), ("requests", "replies", "errors")


class MissingRequirement(Exception):
    """The cases need a package that is not installed; the message says how to install it."""


class Step(Struct, frozen=True, kw_only=True):
    """One case of any kind; ``run`` returns the message of a failure, or ``None``."""

    name: str
    tier: Tier
    run: Callable[[], str | None]


def build_steps(
    module: str, plugin: object, options: ConformanceOptions, folder: Path, closing: ExitStack
) -> Iterator[Step]:
    """Every case of a plugin; ``folder`` is for what gateways write, ``closing`` closes them.

    Raises MissingRequirement.
    """
    other_formats = {name: other for name, other in format_plugins().items() if other is not plugin}
    registry = build_registry({**other_formats, module: plugin})
    known_problems = build_registry(other_formats).problems
    refused = [each.message for each in registry.problems if each not in known_problems]
    hooks = {hook for each in registry.plugins if each.name == module for hook in each.hooks}
    if "register_providers" in hooks or not hooks & {*EXTENDING, "register_formats"}:
        suite = ProviderSuite(
            (module,), accounts=options.accounts, answers_itself=frozenset(options.answers_itself)
        )
        closing.callback(suite.close)
        for case in suite.cases():
            yield Step(
                name=case.name, tier=case.tier, run=partial(suite.run, case, (folder / "providers"))
            )
    if "register_formats" in hooks:
        yield from _format_steps(module, options, registry, refused)
    if hooks & EXTENDING:
        if DEFAULT_FORMAT not in registry.formats:
            raise MissingRequirement(INSTALL_DEFAULT_FORMAT)
        extension = ExtensionSuite(module, public=options.public)
        closing.callback(extension.close)
        for case in extension.cases():
            run = partial(extension.run, case, folder / "extension")
            yield Step(name=case.name, tier=case.tier, run=run)


def _format_steps(
    module: str, options: ConformanceOptions, registry: Registry, refused: list[str]
) -> Iterator[Step]:
    """``refused`` lists what the gateway refuses of the plugin or because of it."""
    from gateway_kit.formats import format_cases

    own = [id for id, plugin in registry.format_plugins.items() if plugin == module]
    if not own or refused:
        name = f"{module}: accepted"
        reason = "; ".join(refused) or "none of its formats is taken"
        message = f"{name}: Correct what the gateway refuses of register_formats. Seen: {reason}"
        yield Step(name=name, tier=Tier.BRONZE, run=lambda: message)
    for id in own:
        wire: WireFormat = registry.formats[id]
        for case in format_cases(wire):
            if id in options.other_work and not str(case).startswith(_ANY_WORK):
                continue
            name, group = f"{id}: {case}", str(case).partition("/")[0]
            tier = Tier.SILVER if group in _SILVER else Tier.GOLD
            if group in _BRONZE:
                tier = Tier.BRONZE
            yield Step(name=name, tier=tier, run=partial(_check_law, case.check))


def _check_law(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:  # the law's message covers any exception of the plugin
        return str(error)
    return None
