"""Guardrails: rules on requests and on answers, whole and streamed.

Does nothing until there is a rule. See ``docs/guardrails.md``.
"""

from typing import Annotated

from msgspec import Meta, Struct

from gateway_core import AnswerFilter, Interceptor, hookimpl

from .guards import AnswerGuard, RequestGuard
from .rule import Rule

GATEWAY_PROTOCOL = 1


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is looked for, and what is done about it."""

    rules: Annotated[
        tuple[Rule, ...],
        Meta(
            description="The rules, in the order in which they apply. Each sees what the ones "
            "before it left.",
            max_length=100,
            extra={"secret": False},
        ),
    ] = ()
    service_token: Annotated[
        str,
        Meta(description="Sent to the services of rules, as a bearer token; empty sends none."),
    ] = ""

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two rules have the name {name}")


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


# Without the argument ``settings``: the guards follow what is in force.
@hookimpl
def register_interceptors() -> list[Interceptor]:
    return [RequestGuard()]


@hookimpl
def register_answer_filters() -> list[AnswerFilter]:
    return [AnswerGuard()]
