"""The health of providers, from the cooldowns of their accounts (A.10)."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.storage.moments import iso

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query

PATH = "/api/health/providers"
KEPT = 10.0
"""Seconds for which a result is cached."""
Status = Literal["healthy", "degraded", "unavailable"]


class HealthQuery(Struct, frozen=True, kw_only=True):
    force: Annotated[int, Meta(ge=0, le=1)] = 0
    """1 looks anew."""


class ProviderHealth(Struct, frozen=True, kw_only=True, rename="camel"):
    """``degraded`` is one whose accounts rest in part, ``unavailable`` one whose all do."""

    provider: str
    name: str
    status: Status
    accounts: int
    resting: int


class HealthPage(Struct, frozen=True, kw_only=True, rename="camel"):
    providers: tuple[ProviderHealth, ...]
    checked_at: str
    cached: bool


class _Cache:
    """A cache of the last result."""

    def __init__(self) -> None:
        self._page: HealthPage | None = None
        self._until = 0.0

    async def show(self, admin: AdminContext, request: Request) -> Response:
        """Show the providers that have accounts; the result is cached for ten seconds."""
        now, cached = admin.core.clock(), self._page
        if cached is not None and not read_query(request, HealthQuery).force and now < self._until:
            return json_answer(
                HealthPage(providers=cached.providers, checked_at=cached.checked_at, cached=True)
            )
        page = HealthPage(providers=_check_providers(admin), checked_at=iso(now), cached=False)
        self._page, self._until = page, now + KEPT
        return json_answer(page)

    async def forget(self, admin: AdminContext, request: Request) -> Response:
        """Clear the cache; the accounts themselves do not change."""
        self._page = None
        return json_answer({"success": True})


def routes(admin: AdminContext) -> list[Guarded]:
    cache = _Cache()
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            cache.show,
            "read the providers' health",
            query=HealthQuery,
            answer=HealthPage,
        ),
        endpoint(
            admin,
            "DELETE",
            PATH,
            cache.forget,
            "forget the providers' health",
            answer=dict[str, Any],
        ),
    ]


def _check_providers(admin: AdminContext) -> tuple[ProviderHealth, ...]:
    active = admin.core.cooldowns.all_active()
    resting = {account for account, model, _ in active if model == EVERY_MODEL}
    affected = {account for account, _, _ in active}
    rows = []
    for provider, accounts in sorted(admin.snapshot.accounts.items()):
        ids, spec = {account.id for account in accounts}, admin.spec(provider)
        status: Status = "degraded" if ids & affected else "healthy"
        if ids <= resting:
            status = "unavailable"
        row = ProviderHealth(
            provider=provider,
            name=spec.name if spec else provider,
            status=status,
            accounts=len(accounts),
            resting=sum(account.id in resting for account in accounts),
        )
        rows.append(row)
    return tuple(rows)
