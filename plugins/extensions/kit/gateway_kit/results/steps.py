"""A plugin's cases by what it brings: providers, wire formats, an extension."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from msgspec import Struct

from gateway_core import WireFormat
from gateway_core.plugins.registry import Registry
from gateway_core.plugins.tiers import Tier
from gateway_kit.extensions import Suite as ExtensionSuite
from gateway_kit.extensions.subject import EXTENDING
from gateway_kit.installed_formats import TO_INSTALL, USUAL, format_plugins, registry_of
from gateway_kit.providers import Suite as ProviderSuite

from .conformance_options import Given

_ANY_WORK = ("code/", "declared/facts")
_BRONZE, _SILVER = ("declared", "code"), ("requests", "replies", "errors")


class Lacking(Exception):
    """The cases need a package that is not installed; the message says how to install it."""


class Step(Struct, frozen=True, kw_only=True):
    """One case, whatever its role; ``run`` gives the message of a failure, or ``None``."""

    name: str
    tier: Tier
    run: Callable[[], str | None]


def steps(
    module: str, plugin: object, given: Given, folder: Path, closing: ExitStack
) -> Iterator[Step]:
    """Every case of a plugin; ``folder`` is for what gateways write, ``closing`` closes them.

    Raises Lacking.
    """
    beside = {name: other for name, other in format_plugins().items() if other is not plugin}
    registry = registry_of({**beside, module: plugin})
    usual = registry_of(beside).problems
    refused = [each.message for each in registry.problems if each not in usual]
    hooks = {hook for each in registry.plugins if each.name == module for hook in each.hooks}
    if "register_providers" in hooks or not hooks & {*EXTENDING, "register_formats"}:
        yield from _of_providers(module, given, folder / "providers", closing)
    if "register_formats" in hooks:
        yield from _of_formats(module, given, registry, refused)
    if hooks & EXTENDING:
        if USUAL not in registry.formats:
            raise Lacking(TO_INSTALL)
        yield from _of_extension(module, given, folder / "extension", closing)


def _of_providers(module: str, given: Given, folder: Path, closing: ExitStack) -> Iterator[Step]:
    suite = ProviderSuite(
        (module,), accounts=given.accounts, answers_itself=frozenset(given.answers_itself)
    )
    closing.callback(suite.close)
    for case in suite.cases():
        yield Step(name=case.name, tier=case.tier, run=partial(suite.run, case, folder))


def _of_extension(module: str, given: Given, folder: Path, closing: ExitStack) -> Iterator[Step]:
    suite = ExtensionSuite(module, public=given.public)
    closing.callback(suite.close)
    for case in suite.cases():
        yield Step(name=case.name, tier=case.tier, run=partial(suite.run, case, folder))


def _of_formats(
    module: str, given: Given, registry: Registry, refused: list[str]
) -> Iterator[Step]:
    """``refused`` tells what the gateway does not take, of the plugin or because of it."""
    from gateway_kit.formats import format_cases

    own = [id for id, plugin in registry.format_plugins.items() if plugin == module]
    if not own or refused:
        name = f"{module}: accepted"
        seen = "; ".join(refused) or "none of its formats is taken"
        told = f"{name}: Correct what the gateway refuses of register_formats. Seen: {seen}"
        yield Step(name=name, tier=Tier.BRONZE, run=lambda: told)
    for id in own:
        wire: WireFormat = registry.formats[id]
        for case in format_cases(wire):
            if id in given.other_work and not str(case).startswith(_ANY_WORK):
                continue
            name = f"{id}: {case}"
            yield Step(name=name, tier=_tier_of(str(case)), run=partial(_kept, case.check))


def _kept(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:  # a law tells what is broken, whatever the plugin raised
        return str(error)
    return None


def _tier_of(law: str) -> Tier:
    group = law.partition("/")[0]
    if group in _BRONZE:
        return Tier.BRONZE
    return Tier.SILVER if group in _SILVER else Tier.GOLD
