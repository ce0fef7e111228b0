"""A plugin's cases by what it brings: providers, wire formats, an extension."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gateway_administration.plugins.tiers import Tier
from gateway_core import WireFormat
from gateway_core.plugins.registry import Registry
from gateway_kit.abilities import STREAM, contents
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.extensions.subject import EXTENDING
from gateway_kit.installed_formats import (
    DEFAULT_FORMAT,
    INSTALL_DEFAULT_FORMAT,
    build_registry,
    format_plugins,
)
from gateway_kit.mock_vendor import DIALECTS, Dialect, MockAnswer, whole_only
from gateway_kit.providers import ProviderSuite
from gateway_kit.providers.conformance_options import (
    ConformanceOptions,
    load_dialects,
    load_place,
)

if TYPE_CHECKING:
    from gateway_kit.formats import Samples

_ANY_WORK = ("code/", "declared/facts")
_BRONZE, _SILVER = ("declared", "code"), ("asked", "requests", "replies", "errors")


class MissingRequirement(Exception):
    """The cases need a package that is not installed; the message says how to install it."""


class Step(Struct, frozen=True, kw_only=True):
    """One case of any kind; ``run`` returns the message of a failure, or ``None``."""

    name: str
    tier: Tier
    run: Callable[[], str | None]
    clients: tuple[str, ...] = ()
    """The client formats that the plugin's vendors are called in."""


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
            (module,),
            accounts=options.accounts,
            answers_itself=frozenset(options.answers_itself),
            lacks=options.lacks,
        )
        closing.callback(suite.close)
        asked = [subject for subject in suite.subjects if not subject.answers_itself]
        routes = [route for subject in asked for route in subject.routes()]
        clients = tuple(sorted({route.client for route in routes}))
        for case in suite.cases():
            run = partial(suite.run, case, folder / "providers")
            yield Step(name=case.name, tier=case.tier, run=run, clients=clients)
    if "register_formats" in hooks:
        yield from _format_steps(module, plugin, options, registry, refused)
    if hooks & EXTENDING:
        if DEFAULT_FORMAT not in registry.formats:
            raise MissingRequirement(INSTALL_DEFAULT_FORMAT)
        extension = ExtensionSuite(
            module, public=options.public, trusted=options.trusted, settings=options.settings
        )
        closing.callback(extension.close)
        for case in extension.cases():
            run = partial(extension.run, case, folder / "extension")
            yield Step(name=case.name, tier=case.tier, run=run)


def _format_steps(
    module: str,
    plugin: object,
    options: ConformanceOptions,
    registry: Registry,
    refused: list[str],
) -> Iterator[Step]:
    """``refused`` lists what the gateway refuses of the plugin or because of it."""
    from gateway_kit.formats import format_cases

    dialects = {**DIALECTS, **load_dialects(options, plugin)}

    own = [id for id, plugin in registry.format_plugins.items() if plugin == module]
    if not own or refused:
        name = f"{module}: accepted"
        reason = "; ".join(refused) or "none of its formats is taken"
        message = f"{name}: Correct what the gateway refuses of register_formats. Seen: {reason}"
        yield Step(name=name, tier=Tier.BRONZE, run=lambda: message)
    for id in own:
        wire: WireFormat = registry.formats[id]
        bodies = load_place(options.requests[id], plugin) if id in options.requests else None
        samples = _samples(wire, dialects.get(id), frozenset(options.lacks))
        for case in format_cases(wire, samples, bodies=bodies, lacks=options.lacks):
            if id in options.other_work and not str(case).startswith(_ANY_WORK):
                continue
            name, group = f"{id}: {case}", str(case).partition("/")[0]
            tier = Tier.SILVER if group in _SILVER else Tier.GOLD
            if group in _BRONZE:
                tier = Tier.BRONZE
            yield Step(name=name, tier=tier, run=partial(_check_law, case.check))


def _samples(wire: WireFormat, dialect: Dialect | None, lacks: frozenset[str]) -> "Samples | None":
    """Answers of a vendor whose format no client speaks; the kit writes all others itself."""
    from gateway_kit.formats import Samples

    if dialect is None or wire.client is not None:
        return None
    if STREAM in lacks:
        dialect = whole_only(dialect)
    said = contents(lacks).values()
    answers = [MockAnswer(dialect=dialect, content=content) for content in said]
    return Samples(
        replies=[answer.body() for answer in answers],
        streams=[replace(answer, stream=True).body() for answer in answers],
    )


def _check_law(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Exception as error:  # the law's message covers any exception of the plugin
        return str(error)
    return None
