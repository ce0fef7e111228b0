"""The database: which one is served, moving to PostgreSQL and back (4.13, 9.5)."""

import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.database_choice import complete_url
from gateway_core.config.errors import StartRefused
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import NO_STORE, json_answer
from gateway_core.identity.access import UNAUTHORIZED, Access
from gateway_core.storage.moments import iso

from ..admin_context import AdminContext
from ..endpoint import Handler, endpoint
from ..login.sign_in import report_failures
from ..requests import read_json
from ..settings.document import render
from . import log, startup_env, transfer
from .bodies import (
    CutoverAnswer,
    CutoverBody,
    EnginePatch,
    EnginePatched,
    EngineStatus,
    RollbackBody,
    RolledBack,
    StartupEnvBody,
    StartupEnvQuery,
    StartupEnvWritten,
    TestBody,
    Tested,
)
from .change import DatabaseChange
from .password import PASSWORD, verify
from .turn import Busy
from .url import describe_url

PATH = "/api/settings/database"
RETRY_AFTER = 5
WARNING = (
    "Everything that was written since the cutover is discarded. The PostgreSQL database is left "
    "as it is."
)
OTHERS = (
    "Other processes use this PostgreSQL database ({}), and go on with it: stop them first, or "
    "what they write from now on is not seen here."
)
_URL = "postgresql://gateway:password@127.0.0.1:5432/gateway"


def routes(admin: AdminContext) -> list[Guarded]:
    change = DatabaseChange(admin.core)

    def guarded(method: str, path: str, handler: Any, purpose: str, **types: Any) -> Guarded:
        async def handle(admin: AdminContext, request: Request) -> Response:
            await verify(admin, request, request.headers.get(PASSWORD), UNAUTHORIZED)
            try:
                response: Response = await handler(admin, change, request)
            except Busy as busy:
                headers = {**NO_STORE, "retry-after": str(RETRY_AFTER)}
                return json_answer({"error": busy.message, "code": busy.code}, 503, headers)
            return response

        checked: Handler = report_failures(handle)
        return endpoint(
            admin, method, PATH + path, checked, purpose, access=Access.PROTECTED, **types
        )

    return [
        guarded("GET", "/engine", show, "read the database's state", answer=EngineStatus),
        guarded(
            *("POST", "/engine", patch, "note what is known of the database"),
            body=EnginePatch,
            answer=EnginePatched,
            example={"databasePgVersion": 18},
        ),
        guarded(
            *("POST", "/test", test, "test a database"),
            body=TestBody,
            answer=Tested,
            example={"url": _URL, "sslmode": "require"},
        ),
        guarded(
            *("POST", "/cutover", cut_over, "move to PostgreSQL"),
            body=CutoverBody,
            answer=CutoverAnswer,
            example={"url": _URL, "dryRun": True},
        ),
        guarded(
            *("POST", "/rollback", roll_back, "go back to SQLite"),
            body=RollbackBody,
            answer=RolledBack,
            example={"force": True},
        ),
        guarded(
            *("POST", "/startup-env", startup_env.write, "select the database of the next start"),
            query=StartupEnvQuery,
            body=StartupEnvBody,
            answer=StartupEnvWritten,
            example={"engine": "sqlite"},
        ),
        guarded(
            *("DELETE", "/startup-env", startup_env.remove, "leave the next start to the settings"),
            answer=StartupEnvWritten,
        ),
        guarded("GET", "/log", show_log, "read the log", answer=list[log.StoredRow]),
        *transfer.routes(admin, PATH, change),
    ]


async def show(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    settings, database = await admin.stores.settings.read(), change.database
    selection, extra = database.selection, settings.extra
    version = extra.get("databasePgVersion")
    described: dict[str, Any] = {}
    if selection.url:
        described = dict(describe_url(selection.url))
        rows = await database.fetch("SELECT current_setting('server_version_num') AS version")
        version = int(rows[0]["version"]) // 10_000
    return json_answer(
        EngineStatus(
            active_engine=database.engine,
            startup_env=startup_env.describe(admin),
            serving_fallback=selection.is_fallback,
            database_engine=settings.database_engine,
            database_engine_error=selection.error or settings.database_engine_error,
            database_cutover_at=settings.database_cutover_at,
            database_cutover_schema_version=settings.database_cutover_schema_version,
            database_pg_version=version,
            database_pg_features=extra.get("databasePgFeatures"),
            version_mismatch=bool(selection.url)
            and version != admin.core.environment.pg_preferred_version,
            postgres_host=described.get("host", extra.get("postgresHost")),
            postgres_port=described.get("port", extra.get("postgresPort")),
            postgres_database=described.get("database", extra.get("postgresDatabase")),
            postgres_user=described.get("user", extra.get("postgresUser")),
            postgres_sslmode=described.get("sslmode", extra.get("postgresSslmode")),
            postgres_auth_source=extra.get("postgresAuthSource"),
            snapshots=tuple(change.snapshots()),
            progress=dict(change.progress) or None,
        )
    )


async def patch(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    changes = msgspec.to_builtins(await read_json(request, EnginePatch))
    async with admin.writing():
        document = await admin.stores.settings.document()
        await admin.audit_change(request, "database.engine", None, document, changes)
        settings = await admin.stores.settings.patch(changes)
    document = await admin.stores.settings.document()
    shown = render(document, settings, admin.core.environment.variables, operator=True)
    return json_answer(EnginePatched(settings=shown))


async def test(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    from gateway_postgres.loading import probe

    body, began = await read_json(request, TestBody), time.monotonic()
    error = version = None
    try:
        version = (await probe(complete_url(body.url, body.sslmode or ""))).version
    except StartRefused as refused:
        error = str(refused)
    took = round((time.monotonic() - began) * 1000)
    failed: dict[str, Any] = {}
    if error:
        failed = {"error_code": "probe_failed", "error_message": error}
    await log.write(
        change.database,
        log.LogRow(
            at=iso(admin.core.clock()), type="test", ok=int(not error), duration_ms=took, **failed
        ),
    )
    return json_answer(Tested(ok=not error, latency_ms=took, server_version=version, error=error))


async def cut_over(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    body = await read_json(request, CutoverBody)
    asked = body.url, body.sslmode or "", body.include_request_details
    if body.dry_run:
        return json_answer(await change.plan(*asked))
    change.check_free()
    await admin.audit(request, "database.cutover")
    return json_answer(await change.cutover(*asked))


async def roll_back(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    body = await read_json(request, RollbackBody)
    others = await change.others()
    beside = OTHERS.format(others) if others else None
    if not body.force:
        settings = await admin.stores.settings.read()
        return json_answer(
            {
                "error": "rollback_requires_force",
                "warning": " ".join(filter(None, (WARNING, beside))),
                "discardedSince": settings.database_cutover_at,
            },
            409,
        )
    change.check_free()
    await admin.audit(request, "database.rollback")
    took = await change.rollback(body.snapshot_path)
    return json_answer(RolledBack(ok=True, duration_ms=took, warning=beside))


async def show_log(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    return json_answer(await log.newest(change.database))
