"""One rule, ready to be used."""

from collections.abc import Callable, Iterable

from gateway_filters.plugin_gateway import PluginGateway, glob

from .expressions import compiled
from .opinions import Opinion, opinion_of
from .personal import personal
from .rule import FINDING, Rule
from .scanner import Detector
from .secrets import secrets

Names = Callable[[], Iterable[str]]


class RuleInForce:
    """One rule, compiled. It finds places by ``detectors``, or has an ``opinion``."""

    def __init__(self, rule: Rule, gateway: PluginGateway, token: str) -> None:
        self.rule, self.name, self.action = rule, rule.name, rule.action
        self.detectors: tuple[Detector, ...] = ()
        self.opinion: Opinion | None = None
        if rule.kind in FINDING:
            self.detectors = detectors_of(rule)
        else:
            self.opinion = opinion_of(rule, gateway, token)
        self._keys = tuple(map(glob, rule.keys))
        self._models = tuple(map(glob, rule.models))

    def concerns(self, keys: Names, models: Names) -> bool:
        """Whether it is for a call with one of these names of its key and of its model."""
        return _match(self._keys, keys) and _match(self._models, models)

    def replacement(self, label: str) -> str:
        """What stands in the place of what was found."""
        return self.rule.replacement or f"[{label}]"


def detectors_of(rule: Rule) -> tuple[Detector, ...]:
    """What finds the places of a rule."""
    if rule.kind == "secrets":
        return secrets()
    if rule.kind == "personal":
        return personal(rule.find)
    return tuple(
        Detector(
            pattern=compiled(pattern, ignore_case=rule.ignore_case),
            label=rule.name,
            longest=rule.longest,
        )
        for pattern in rule.patterns
    )


def _match(patterns: Iterable[Callable[[str], bool]], names: Names) -> bool:
    if not patterns:
        return True
    known = tuple(names())
    return any(matches(name) for matches in patterns for name in known)
