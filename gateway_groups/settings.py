"""What an operator sets."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

Dollars = Annotated[float, Meta(ge=0, le=2**53)]
Amount = Annotated[int, Meta(ge=0, le=2**53)]
_OWN = ("name", "keys", "reserve", "dailyBudget", "dailyLimitTokens")


class KeyGroup(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Some keys, and what they may use together. Days and months are the machine's local ones."""

    name: Annotated[
        str,
        Meta(description="What refusals call it.", pattern="^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$"),
    ]
    keys: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...],
        Meta(
            description="Its keys: ids or names, with * for anything.", min_length=1, max_length=500
        ),
    ]
    reserve: Annotated[
        bool,
        Meta(
            description="Whether each call first reserves the most it can cost, so that the limits "
            "of days, months and lifetime are never passed."
        ),
    ] = False
    daily_budget: Annotated[Dollars, Meta(description="Dollars a day; 0 is no limit.")] = 0
    monthly_budget: Annotated[Dollars, Meta(description="Dollars a month; 0 is no limit.")] = 0
    max_cost_usd: Annotated[
        Dollars | None, Meta(description="Dollars in the lifetime of the keys there are.")
    ] = None
    daily_limit_tokens: Annotated[Amount, Meta(description="Tokens a day; 0 is no limit.")] = 0
    daily_input_token_limit: Annotated[Amount, Meta(description="Input tokens a day.")] = 0
    daily_output_token_limit: Annotated[Amount, Meta(description="Output tokens a day.")] = 0
    monthly_token_limit: Annotated[Amount, Meta(description="Tokens a month.")] = 0
    monthly_input_token_limit: Annotated[Amount, Meta(description="Input tokens a month.")] = 0
    monthly_output_token_limit: Annotated[Amount, Meta(description="Output tokens a month.")] = 0
    max_tokens: Annotated[
        Amount | None, Meta(description="Tokens in the lifetime of the keys there are.")
    ] = None
    monthly_request_limit: Annotated[Amount, Meta(description="Calls a month.")] = 0
    rpm_limit: Annotated[Amount, Meta(description="Calls in any 60 seconds.")] = 0
    tpm_limit: Annotated[Amount, Meta(description="Tokens in any 60 seconds.")] = 0

    def __post_init__(self) -> None:
        limits = (*self.policy.values(), self.daily_budget, self.daily_limit_tokens)
        # Of a lifetime, 0 is a limit.
        if not any(limits) and self.max_tokens is None and self.max_cost_usd is None:
            raise ValueError(f"group {self.name}: a group needs a limit")

    @property
    def policy(self) -> Mapping[str, Any]:
        """The limits that a key's policy has too, under its names."""
        members: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in members.items() if name not in _OWN}


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The groups. A key may be in several, and each of them has to let a call in."""

    groups: Annotated[
        tuple[KeyGroup, ...],
        Meta(
            description="Groups of keys, and what each may use.",
            max_length=200,
            extra={"secret": False},
        ),
    ] = ()

    def __post_init__(self) -> None:
        names = [group.name for group in self.groups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two groups have the name {name}")
