"""The objects that the gateway asks, and the rules that they have at the moment.

Nothing here needs the libraries of rules: a gateway without rules does not load them.
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from gateway_core import AnswerCheck, Call, Target
from gateway_filters.plugin_gateway import PluginGateway, names_of_target

from .rule import Rule

if TYPE_CHECKING:
    from .rule_in_force import RuleInForce

CODE = "guardrail_blocked"
TIMEOUT = 60.0
"""Seconds for all rules of a call: the most that the gateway allows."""
IS_OWN = ContextVar("gateway_guardrails_is_own", default=False)
"""Whether a call is a judge's: no rule looks at it, or judges would judge themselves."""


class RulesInForce:
    """Follows the settings while the gateway runs."""

    def __init__(self, direction: Literal["requests", "answers"]) -> None:
        self._direction = direction
        self._gateway: PluginGateway | None = None
        self._settings: object = None
        self._rules: tuple[RuleInForce, ...] = ()

    def connect(self, gateway: PluginGateway) -> None:
        """From now on the gateway is there."""
        self._gateway = gateway
        self.current()

    def current(self) -> tuple["RuleInForce", ...]:
        """All of this direction, in their order."""
        gateway = self._gateway
        if gateway is not None and gateway.settings is not self._settings:
            settings = gateway.settings
            rules: tuple[Rule, ...] = getattr(settings, "rules", ())
            token: str = getattr(settings, "service_token", "")
            self._rules = self._compile(rules, token, gateway)
            self._settings = settings
        return self._rules

    def of_request(self, call: Call) -> tuple["RuleInForce", ...]:
        """Those that concern a call whose target is not known yet."""
        gateway = self._gateway
        return () if gateway is None else self._of(call, partial(gateway.names_of_call, call))

    def of_answer(self, call: Call, target: Target) -> tuple["RuleInForce", ...]:
        """Those that concern a target's answer."""
        return self._of(call, partial(names_of_target, call, target))

    def _of(self, call: Call, models: Callable[[], Iterable[str]]) -> tuple["RuleInForce", ...]:
        rules, gateway = self.current(), self._gateway
        if gateway is None or not rules or IS_OWN.get():
            return ()
        keys = partial(gateway.names_of_key, call)
        return tuple(each for each in rules if each.concerns(keys, models))

    def _compile(
        self, rules: tuple[Rule, ...], token: str, gateway: PluginGateway
    ) -> tuple["RuleInForce", ...]:
        wanted = [rule for rule in rules if rule.on in (self._direction, "both")]
        if not wanted:
            return ()
        from .rule_in_force import RuleInForce

        return tuple(RuleInForce(rule, gateway, token) for rule in wanted)


class RequestGuard:
    """Looks at every call before it is routed. Where it fails, no call is let through."""

    order, required, timeout = 100, True, TIMEOUT

    def __init__(self) -> None:
        self._rules = RulesInForce("requests")
        self.connect = self._rules.connect

    @property
    def is_idle(self) -> bool:
        """There is no rule for requests."""
        return not self._rules.current()

    async def before(self, call: Call) -> Call:
        rules = self._rules.of_request(call)
        if not rules:
            return call
        from .requests import guarded

        return await guarded(call, rules)

    async def after(self, record: Mapping[str, Any]) -> None: ...


class AnswerGuard:
    """Looks at the answers of chat models that a rule concerns."""

    order, required, timeout = 100, True, TIMEOUT
    look_ahead = 1
    """The check keeps what it holds back by itself, as much as each rule needs. One character is
    left with the gateway, so that there is an event to put the rest into."""

    def __init__(self) -> None:
        self._rules = RulesInForce("answers")
        self.connect = self._rules.connect

    @property
    def is_idle(self) -> bool:
        """There is no rule for answers."""
        return not self._rules.current()

    def open(self, call: Call, target: Target) -> AnswerCheck | None:
        rules = self._rules.of_answer(call, target)
        if not rules:
            return None
        from .answers import Check

        return Check(call, rules)
