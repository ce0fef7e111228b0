"""What is known of a gateway at the moment, for plugins that watch it: limits, usage, rests.

Everything is read from the database that all processes of a gateway share, so it does not
matter which of them watches. Nothing of it is on the way of a request.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway_administration.stores.leases import LeaseStore
from gateway_core.identity.policy import read
from gateway_core.metering.limits import WINDOWS
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.cooldowns import LOCK, moment
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.keys import ApiKey
from gateway_dashboard_api.usage.ledger.reports import UsageReports
from gateway_dashboard_api.usage.ledger.sums import HOUR as HOUR_DIGITS
from gateway_dashboard_api.usage.ledger.sums import MINUTE, Span

MICRO = 1_000_000
"""Parts of a dollar, in which the ledger counts."""
HOUR = 3600.0
"""Seconds."""


class LimitUse(Struct, frozen=True, kw_only=True):
    """How much of one limit a key has used. Money is in dollars."""

    key_id: str
    key: str
    field: str
    """The limit's name in the key or its policy."""
    label: str
    used: float
    limit: float
    is_money: bool


class Rest(Struct, frozen=True, kw_only=True):
    """An account that rests, for one model or for all."""

    account_id: str
    account: str
    provider: str
    model: str
    """``__all`` for every one."""
    until: float
    """Unix seconds."""
    reason: str


class Calls(Struct, frozen=True, kw_only=True):
    """Calls of a span of time."""

    requests: int = 0
    errors: int = 0
    """Calls that were refused or broke off."""
    cost: float = 0.0
    """Dollars, of the calls whose price is known."""


class Figures:
    """Of one gateway. Methods raise Unavailable while the database is away."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self._series = UsageReports(core.stores.database, core.stores.usage).series

    def now(self) -> float:
        """Unix seconds."""
        return self._core.clock()

    async def take_turn(self, work: str, seconds: float) -> bool:
        """Whether this process, and no other one on the database, does a work for so long."""
        now = self.now()
        return await LeaseStore(self._core.stores.database).take(work, now, now + seconds)

    async def limits(self) -> list[LimitUse]:
        """The limits by day, month and life of all keys in use."""
        found: list[LimitUse] = []
        for key in await self._core.stores.keys.list():
            if key.is_active:
                found += await self._limits_of(key)
        return found

    async def _limits_of(self, key: ApiKey) -> list[LimitUse]:
        policy = read(key.policy, key.daily_limit_tokens)
        if not policy.has_limits:
            return []
        spent = await self._core.limits.spent(key.id)
        ever = spent.ever
        rows = [
            (each.field, each.label, each.used(getattr(spent, each.span)), each.limit(policy))
            for each in WINDOWS
        ]
        rows.append(("maxTokens", "lifetime tokens", ever.tokens, policy.max_tokens))
        rows.append(("maxCostUsd", "lifetime cost", ever.cost, policy.max_cost))
        money = {"maxCostUsd", *(each.field for each in WINDOWS if each.is_money)}
        return [
            LimitUse(
                key_id=key.id,
                key=key.name,
                field=field,
                label=label,
                used=used / MICRO if field in money else used,
                limit=limit / MICRO if field in money else limit,
                is_money=field in money,
            )
            for field, label, used, limit in rows
            if limit
        ]

    async def rests(self) -> list[Rest]:
        """The accounts that rest now, by what this process knows and what others have noted."""
        now, ends = self.now(), dict[tuple[str, str], tuple[float, str]]()
        accounts = {each.id: each for each in await self._core.stores.connections.list()}
        for id, account in accounts.items():
            for name, value in account.data.items():
                if name.startswith(LOCK) and (until := moment(value)) is not None:
                    reason = str(account.data.get("lastError") or "")
                    ends[id, name.removeprefix(LOCK)] = (until, reason)
        for id, model, rest in self._core.cooldowns.all_active():
            ends[id, model] = (rest.until, rest.reason)
        return [
            Rest(
                account_id=id,
                account=accounts[id].name or accounts[id].email or id,
                provider=accounts[id].provider,
                model=model,
                until=until,
                reason=reason,
            )
            for (id, model), (until, reason) in ends.items()
            if until > now and id in accounts and accounts[id].is_active
        ]

    async def calls_by_provider(self, seconds: float) -> dict[str, Calls]:
        """The calls of the last ``seconds``, by provider; those that reached none are left out."""
        now = self.now()
        # The running minute is included.
        span = Span("minute", iso(now - seconds)[:MINUTE], f"{iso(now)[:MINUTE]}~")
        found: dict[str, Calls] = {}
        for slot in await self._series.slots(span, by=("provider",)):
            [provider] = slot.group
            before = found.get(provider, Calls())
            found[provider] = Calls(
                requests=before.requests + slot.requests,
                errors=before.errors + slot.errors,
                cost=before.cost + slot.cost / MICRO,
            )
        found.pop("", None)
        return found

    async def spend_by_hour(self, hours: int) -> list[float]:
        """Dollars of the last ``hours`` whole hours before this one, the oldest first."""
        first = self.now() // HOUR * HOUR - hours * HOUR
        names = [iso(first + each * HOUR)[:HOUR_DIGITS] for each in range(hours + 1)]
        span, spent = Span("hour", names[0], names[-1]), dict.fromkeys(names[:-1], 0.0)
        for slot in await self._series.slots(span):
            spent[slot.at] += slot.cost / MICRO
        return list(spent.values())

    async def load(self, scope: str) -> Mapping[str, Any]:
        """What a plugin has kept."""
        return await self._core.stores.kv.all(scope)

    async def keep(self, scope: str, values: Mapping[str, Any]) -> None:
        """Keep JSON values by name."""
        await self._core.stores.kv.put(scope, values)
