"""Export, import and selective transfer (4.13, N.1, P.7)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import asdict
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, BodyTooLarge
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.storage.moments import local_day

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..login.sign_in import report_failures
from ..requests import read_json, read_query
from ..streams import Attachment
from . import selective
from .bodies import (
    Applied,
    ExportQuery,
    ImportBody,
    Imported,
    SelectionPlan,
    SelectiveBody,
)
from .change import DatabaseChange
from .export import Export, portable_tables, write_export
from .import_file import read_tables
from .importing import import_tables
from .password import PASSWORD, verify

LIMIT = 16 * 1024 * 1024
"""Bytes of a file that is imported."""
REFUSED = "Unauthorized: CLI token + password or JWT session + password required"
T = TypeVar("T")
_EXAMPLE: Mapping[str, Any] = {
    "format": "model-gateway-database",
    "schemaVersion": 31,
    "exportedAt": "2027-01-15T08:00:00.000Z",
    "secretsIncluded": False,
    "tables": {"key_groups": {"columns": ["id", "name", "created_at", "updated_at"], "rows": []}},
    "password": "the dashboard password",
}


def routes(admin: AdminContext, path: str, change: DatabaseChange) -> list[Guarded]:
    async def import_here(admin: AdminContext, request: Request) -> Response:
        return await import_file(admin, change, request)

    return [
        endpoint(
            *(admin, "GET", path, report_failures(export), "export the database"),
            access=Access.PROTECTED,
            query=ExportQuery,
            answer=Export,
        ),
        endpoint(
            *(admin, "POST", path, report_failures(import_here), "import a database"),
            access=Access.PROTECTED,
            body=ImportBody,
            answer=Imported,
            example=_EXAMPLE,
        ),
        endpoint(
            *(admin, "POST", f"{path}/selective", report_failures(transfer)),
            "transfer providers and combos",
            access=Access.PROTECTED,
            body=SelectiveBody,
            answer=dict[str, Any],
            example={"action": "catalog", "password": "the dashboard password"},
        ),
    ]


async def export(admin: AdminContext, request: Request) -> Response:
    await verify(admin, request, request.headers.get(PASSWORD), REFUSED)
    with_secrets = read_query(request, ExportQuery).include_secrets
    await admin.audit(request, "database.export", None, {"includeSecrets": with_secrets})
    await admin.core.ledger.settle()
    source = write_export(admin.core, with_secrets)
    await anext(source)  # A database that cannot be read is no answer with status 200.
    return Attachment(source, f"model-gateway-{local_day(admin.core.clock())}.json")


async def import_file(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    body = await _read(request, ImportBody)
    await verify(admin, request, body.password, REFUSED)
    change.check_free()
    known = await portable_tables()
    # Apart, so that others are served while a large file is read.
    file = await asyncio.to_thread(read_tables, body.tables, known, body.schema_version)
    detail = {
        "exportedAt": body.exported_at[:64],
        "includeSecrets": body.secrets_included,
        "rows": {name: len(loaded.rows) for name, loaded in file.items()},
    }
    async with admin.writing():
        await admin.audit(request, "database.import", None, detail)
        warnings = await import_tables(admin.core, file, with_secrets=body.secrets_included)
    return json_answer(Imported(success=True, warnings=tuple(warnings)))


async def transfer(admin: AdminContext, request: Request) -> Response:
    body = await _read(request, SelectiveBody)
    await verify(admin, request, body.password, REFUSED)
    if body.action == "catalog":
        return json_answer(await selective.catalog(admin.core))
    if body.action == "preview":
        return json_answer(await _preview(admin, body))
    if body.action == "export":
        return json_answer(await _export(admin, request, body))
    return json_answer(await _apply(admin, request, body))


async def _preview(admin: AdminContext, body: SelectiveBody) -> SelectionPlan:
    if body.bundle is UNSET:
        return await selective.plan_export(admin.core, body.selection)
    return await selective.plan_apply(admin.core, body.bundle, body.selection)


async def _export(admin: AdminContext, request: Request, body: SelectiveBody) -> Export:
    if body.include_secrets and not body.acknowledge_secret_export:
        raise BadRequest("An export with secrets needs acknowledgeSecretExport: true")
    detail = {**_named(body), "includeSecrets": body.include_secrets}
    await admin.audit(request, "database.selective-export", None, detail)
    return await selective.export_bundle(admin.core, body.selection, body.include_secrets)


async def _apply(admin: AdminContext, request: Request, body: SelectiveBody) -> Applied:
    if body.bundle is UNSET:
        raise BadRequest("A bundle is needed to apply it")
    async with admin.writing():
        await admin.audit(request, "database.selective-apply", None, _named(body))
        plan = await selective.apply_bundle(admin.core, body.bundle, body.selection)
    return Applied(success=True, **asdict(plan))


def _named(body: SelectiveBody) -> dict[str, Sequence[str]]:
    return {"providers": body.selection.providers, "combos": body.selection.combos}


async def _read(request: Request, kind: type[T]) -> T:
    """Raises BadRequest, BodyTooLarge, UnsupportedMedia."""
    try:
        return await read_json(request, kind, LIMIT)
    except BodyTooLarge:
        raise BodyTooLarge("Database import is too large") from None
