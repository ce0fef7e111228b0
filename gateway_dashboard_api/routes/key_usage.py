"""What keys have used of their limits, and the names a key may be narrowed to (4.12)."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.model_resolver import FAMILIES

from ..desk import AdminContext
from ..endpoint import endpoint
from ..key_spending import KeySpending, spending
from ..requests import query
from .keys import PATH, key_of


class UsageQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    api_key_id: str | None = None


class KeyUsage(Struct, frozen=True):
    usage: dict[str, KeySpending]
    """By key id."""


class CatalogModel(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model as ``allowedModels`` names it."""

    id: str
    name: str
    provider: str
    kind: str


class PolicyCatalog(Struct, frozen=True, kw_only=True, rename="camel"):
    """``families`` are ruled by ``allowAutoCombos``, ``combos`` by ``allowedCombos``."""

    models: tuple[CatalogModel, ...]
    combos: tuple[str, ...]
    families: tuple[str, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH + "/usage",
            show,
            "read the usage of API keys",
            query=UsageQuery,
            answer=KeyUsage,
        ),
        endpoint(
            admin,
            "GET",
            PATH + "/policy-catalog",
            catalog,
            "list what API keys can be narrowed to",
            answer=PolicyCatalog,
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    """The use of one key, or of all."""
    identity = query(request, UsageQuery).api_key_id
    keys = await admin.stores.keys.list() if identity is None else [await key_of(admin, identity)]
    limits = admin.core.limits
    return json_answer(KeyUsage({key.id: await spending(limits, key) for key in keys}))


async def catalog(admin: AdminContext, request: Request) -> Response:
    """Models of connected providers, combos and families."""
    tables = admin.tables
    models = tuple(
        CatalogModel(
            id=f"{admin.prefix(provider)}/{row.id}",
            name=row.name or row.id,
            provider=provider,
            kind=row.kind.value,
        )
        for provider in tables.accounts
        for row in tables.models.get(provider, ())
    )
    families = tuple(f"auto/{family}" for family in FAMILIES)
    return json_answer(PolicyCatalog(models=models, combos=tuple(tables.combos), families=families))
