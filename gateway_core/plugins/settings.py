"""The settings of all plugins that are in force, which follow what is stored."""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec
import pluggy
from msgspec import UNSET, Struct

from ..contracts.errors import BadRequest
from ..storage.stores.plugin_document import NOTHING, PluginDocument
from .asking import HOOK_LIMIT, replies
from .guard import LoadGuard, PluginFailed
from .records import Loaded, Problem, report
from .setting_fields import MASK, Declared, SettingField, Unsound, declared
from .setting_values import (
    SET_RIGHT,
    Document,
    InForce,
    Layers,
    misfit,
    owners_of,
    refusal_of,
    settle,
    strays,
)

log = logging.getLogger(__name__)


class PluginSettings:
    """The settings of every plugin that has some; always the ones in force now."""

    def __init__(
        self,
        declared: Iterable[Declared] = (),
        variables: Mapping[str, str] = MappingProxyType({}),
        program: Mapping[str, Document] = MappingProxyType({}),
        stored: Mapping[str, PluginDocument] = MappingProxyType({}),
        problems: Iterable[Problem] = (),
        *,
        at_start: frozenset[str] = frozenset(),
        guard: LoadGuard | None = None,
    ) -> None:
        """``at_start`` names the plugins that some hook gives settings to when the gateway starts.

        What is wrong joins ``problems``. ``guard`` is for the plugins' own checks at the start,
        and its limit for later ones.
        """
        guard = guard or LoadGuard(HOOK_LIMIT)
        self._limit = guard.limit
        self.on_change: Callable[[], None] = lambda: None
        """Called once stored settings may have changed."""
        self._declared = {each.plugin: each for each in declared}
        self._program = program
        self._at_start = at_start
        owners = owners_of(self._declared.values())
        self._variables = {n: text for n, text in variables.items() if len(owners.get(n, ())) == 1}
        self._stored = stored
        self._in_force = self._settled(self._declared, guard)
        self._begun = {name: each.value for name, each in self._in_force.items()}
        self.problems = list(problems)
        """Found when the gateway started."""
        faults = [
            Problem(name, fault, advice=SET_RIGHT)
            for name, each in self._in_force.items()
            for fault in each.faults
        ]
        for problem in (*faults, *strays(self._declared, owners, variables, program)):
            report(self.problems, problem)

    def take(self, stored: Mapping[str, PluginDocument]) -> None:
        """Follow what is stored. Plugins whose documents are the same keep their very value."""
        before, self._stored = self._stored, stored
        changed = [n for n in self._declared if stored.get(n, NOTHING) != before.get(n, NOTHING)]
        settled = self._settled(changed, LoadGuard(self._limit))
        self._in_force.update(settled)
        for name, each in settled.items():
            for fault in each.faults:
                log.warning("plugin %s: %s", name, fault)
        self.on_change()

    def current(self, plugin: str) -> Struct | None:
        """A plugin's settings; ``None`` when it declares none."""
        in_force = self._in_force.get(plugin)
        return None if in_force is None else in_force.value

    def given(self, plugin: str) -> Mapping[str, object]:
        """The argument ``settings`` of a plugin's hooks."""
        return {"settings": self.current(plugin)}

    def declared(self, plugin: str) -> Declared | None:
        return self._declared.get(plugin)

    def fields(self, plugin: str) -> tuple[SettingField, ...]:
        declared = self._declared.get(plugin)
        return () if declared is None else declared.fields

    def in_force(self, plugin: str) -> InForce:
        """Raises KeyError for a plugin without settings."""
        return self._in_force[plugin]

    def needs_restart(self, plugin: str) -> bool:
        """Whether a hook took settings at the start that have changed since."""
        if plugin not in self._at_start:
            return False
        then, now = self._begun[plugin], self._in_force[plugin].value
        return bool(msgspec.to_builtins(then) != msgspec.to_builtins(now))

    def changes(self, plugin: str, document: Document) -> dict[str, Any]:
        """What a document changes: UNSET goes back to the default, a mask changes nothing.

        ``null`` is a value where the setting takes it and else brings the
        default back. Raises BadRequest, which says where something is wrong.
        """
        declared = self._declared[plugin]
        changes: dict[str, Any] = {}
        for name, value in document.items():
            if value == MASK and name in declared.secrets:
                continue
            fault = self._guarded(partial(misfit, declared, name, value))
            if fault is not None and (value is not None or name not in declared.names):
                raise BadRequest(f"Invalid settings: {fault}")
            changes[name] = UNSET if fault is not None else value
        return changes

    def check(self, plugin: str, before: PluginDocument, changes: Mapping[str, Any]) -> None:
        """Raises BadRequest when the plugin refuses the settings as they would be."""
        declared = self._declared[plugin]
        after = {**before.members, **changes}
        members = {name: value for name, value in after.items() if value is not UNSET}
        layers = self._layers(plugin, PluginDocument(members=members))
        refusal = self._guarded(partial(refusal_of, declared, layers))
        if refusal is not None:
            raise BadRequest(f"Invalid settings: {refusal}")

    def _guarded(self, check: Callable[[], str | None]) -> str | None:
        """What a check that may run the plugin's code says, or that it came to no end."""
        try:
            with LoadGuard(self._limit) as guard:
                return guard.run(check)
        except PluginFailed as failure:
            return f"the plugin's check of it {failure.reason}"

    def _settled(self, names: Iterable[str], guard: LoadGuard) -> dict[str, InForce]:
        """What counts of plugins' settings; the defaults where their own checks come to no end."""
        checked = [self._declared[name] for name in names]
        works = [
            partial(settle, each, self._layers(each.plugin, self._stored.get(each.plugin, NOTHING)))
            for each in checked
        ]
        with guard:
            outcomes = zip(checked, guard.run_all(works), strict=True)
        return {each.plugin: _in_force(each, outcome) for each, outcome in outcomes}

    def _layers(self, plugin: str, stored: PluginDocument) -> Layers:
        program = self._program.get(plugin, {})
        return Layers(stored=stored, program=program, variables=self._variables)


def _in_force(declared: Declared, outcome: InForce | PluginFailed) -> InForce:
    if not isinstance(outcome, PluginFailed):
        return outcome
    message = f"its check of its settings {outcome.reason}, so the defaults count"
    return InForce(value=declared.struct(), faults=(message,))


def settings_of(
    loaded: Loaded,
    variables: Mapping[str, str] = MappingProxyType({}),
    program: Mapping[str, Document] = MappingProxyType({}),
    stored: Mapping[str, PluginDocument] = MappingProxyType({}),
) -> PluginSettings:
    """Ask every plugin what settings it has, before any other hook.

    A declaration that fails or is not sound is a fatal problem of its plugin.
    """
    problems: list[Problem] = []
    known: list[Declared] = []
    hook, guard = loaded.manager.hook.register_settings, loaded.guard
    structs = replies(hook, problems, guard=guard)
    with guard:
        outcomes = guard.run_all([partial(declared, plugin, struct) for plugin, struct in structs])
    for (plugin, _), outcome in zip(structs, outcomes, strict=True):
        if isinstance(outcome, PluginFailed):
            reason = outcome.reason.removeprefix(f"{Unsound.__name__}: ")
            message = f"its settings are refused: {reason}"
            report(problems, Problem(plugin, message, fatal=True))
        else:
            known.append(outcome)
    at_start = {each.plugin for each in known} & {
        impl.plugin_name
        for name, caller in vars(loaded.manager.hook).items()
        if name != "register_commands" and isinstance(caller, pluggy.HookCaller)
        for impl in caller.get_hookimpls()
        if "settings" in impl.argnames
    }
    return PluginSettings(
        known, variables, program, stored, problems, at_start=frozenset(at_start), guard=guard
    )
