"""How names change when a node gets another prefix, or a combo another name. Pure.

Patterns of keys are rewritten so that they say of the models under the new prefix what they said
under the old one: otherwise a denied model would be open, and an allowed one closed.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_administration.stores.renames import Renaming
from gateway_core.contracts.errors import Conflict
from gateway_core.identity.policy import LONGEST_PATTERN, MOST_PATTERNS
from gateway_core.routing.snapshot import ConfigSnapshot

from .glob_remainders import remainders


class PrefixRenaming(Struct, frozen=True, kw_only=True):
    """A node gets another prefix."""

    before: str
    after: str
    node: str
    """Its id, which is a prefix of its models too."""
    listed: Container[str]
    """The ids of its listed models."""

    def model(self, name: str) -> str:
        prefix, slash, rest = name.partition("/")
        if not slash or prefix not in (self.before, self.node):
            return name
        # Routing drops a second prefix of a node's model, unless a model is listed so.
        if rest not in self.listed:
            rest = rest.removeprefix(f"{self.before}/") or rest
        return f"{self.after if prefix == self.before else prefix}/{rest}"

    def combo(self, name: str) -> str:
        return name

    def policy(self, policy: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        changed = dict(policy)
        if models := policy.get("allowedModels"):
            changed["allowedModels"] = list(dict.fromkeys(map(self.model, models)))
        access = policy.get("modelAccess")
        if access and access.get("patterns"):
            patterns = list(dict.fromkeys(self._patterns(access["patterns"])))
            if len(patterns) > MOST_PATTERNS or any(len(p) > LONGEST_PATTERN for p in patterns):
                raise Conflict(
                    f'The patterns of the API key "{key}" cannot be rewritten for the new prefix: '
                    f"at most {MOST_PATTERNS} of {LONGEST_PATTERN} characters are possible"
                )
            changed["modelAccess"] = {**access, "patterns": patterns}
        return changed

    def _patterns(self, patterns: Iterable[str]) -> Iterable[str]:
        before, after = f"{self.before}/", f"{self.after}/"
        for pattern in patterns:
            if pattern.casefold().startswith(before.casefold()):
                yield after + pattern.partition("/")[2]
                continue
            yield pattern
            # What it matches behind the old prefix and not behind the new one.
            missing = remainders(pattern, before) - remainders(pattern, after)
            yield from sorted(after + rest for rest in missing)


class ComboRenaming(Struct, frozen=True, kw_only=True):
    """A combo gets another name. Rules for models do not apply to names of combos."""

    before: str
    after: str

    def model(self, name: str) -> str:
        return self.after if name == self.before else name

    def combo(self, name: str) -> str:
        return self.model(name)

    def policy(self, policy: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        return policy


def renamed(snapshot: ConfigSnapshot, renaming: Renaming) -> ConfigSnapshot:
    """The configuration with the models of combos and the meanings of aliases renamed."""
    combos = {
        name: msgspec.structs.replace(combo, models=tuple(map(renaming.model, combo.models)))
        for name, combo in snapshot.combos.items()
    }
    aliases = {alias: renaming.model(name) for alias, name in snapshot.aliases.items()}
    return msgspec.structs.replace(snapshot, combos=combos, aliases=aliases)
