"""The catalog of vendors over HTTP."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import NotFound
from gateway_core.contracts.kinds import read_kind
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query
from .catalog import Vendor, list_vendors

PATH = "/api/vendors"


class VendorsQuery(Struct, frozen=True, kw_only=True):
    """Which vendors; each that is left out takes any."""

    search: Annotated[str, Meta(max_length=128)] = ""
    """Looked for in names, ids and aliases."""
    kind: Annotated[str, Meta(max_length=64)] | None = None
    """A kind of work that they do, such as ``llm`` or ``image``."""
    installed: bool | None = None
    connected: bool | None = None


class Vendors(Struct, frozen=True):
    vendors: tuple[Vendor, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin, "GET", PATH, show_all, "list the vendors", query=VendorsQuery, answer=Vendors
        ),
        endpoint(admin, "GET", PATH + "/{id}", show_one, "read the vendor", answer=Vendor),
    ]


async def show_all(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, VendorsQuery)
    rows = tuple(row for row in await list_vendors(admin) if matches(row, parameters))
    return json_answer(Vendors(rows))


def matches(vendor: Vendor, parameters: VendorsQuery) -> bool:
    term = parameters.search.strip().casefold()
    names = (vendor.id, vendor.name, vendor.alias or "", *vendor.aliases)
    if not any(term in name.casefold() for name in names):
        return False
    if parameters.kind is not None and read_kind(parameters.kind) not in vendor.kinds:
        return False
    if parameters.installed not in (None, vendor.installed):
        return False
    return parameters.connected in (None, vendor.connected)


async def show_one(admin: AdminContext, request: Request) -> Response:
    """Show a vendor by its id, alias or prefix."""
    identity = admin.provider_id(request.path_params["id"])
    for row in await list_vendors(admin):
        if row.id == identity:
            return json_answer(row)
    raise NotFound("Vendor not found")
