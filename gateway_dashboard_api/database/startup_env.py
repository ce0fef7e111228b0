"""The managed file, which selects the database of the next start (9.5)."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.config.database_choice import (
    ENGINE,
    MANAGED,
    NAMES,
    SSLMODE,
    URL,
    complete_url,
    effective,
    read_managed,
    write_managed,
)
from gateway_core.config.errors import StartRefused
from gateway_core.contracts.errors import BadRequest
from gateway_core.http.responses import json_answer

from ..admin_context import AdminContext
from ..requests import read_json, read_query
from .bodies import (
    Effective,
    StartupEnv,
    StartupEnvBody,
    StartupEnvQuery,
    StartupEnvWritten,
    StartupVariable,
    Tested,
)
from .change import DatabaseChange
from .url import describe_url, make_url


def describe(admin: AdminContext) -> StartupEnv:
    """What the file and the variables say; never a password."""
    data_dir, environment = admin.core.data_dir, admin.core.environment
    managed = read_managed(data_dir)
    values = effective(managed, environment)
    described: dict[str, Any] = {}
    if url := values.get(URL):
        try:
            described = dict(describe_url(complete_url(url, values.get(SSLMODE, ""))))
        except StartRefused:
            described = {}
    return StartupEnv(
        path=str(data_dir.path / MANAGED),
        exists=(data_dir.path / MANAGED).exists(),
        keys={
            name: StartupVariable(
                source="file" if name in managed else "process" if name in values else None,
                has_file_value=name in managed,
                has_process_value=name in environment.variables,
            )
            for name in NAMES
        },
        effective=Effective(
            engine="postgres" if values.get(URL) else values.get(ENGINE), **described
        ),
    )


async def write(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    """Write the file; with ``?test=1`` only ask the server that it would name."""
    body = await read_json(request, StartupEnvBody)
    values = _values(body)
    if read_query(request, StartupEnvQuery).test == "1":
        return json_answer(await _test(values.get(URL)))
    await admin.audit(request, "database.startup-env")
    try:
        write_managed(admin.core.data_dir, values)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return json_answer(StartupEnvWritten(startup_env=describe(admin)))


async def remove(admin: AdminContext, change: DatabaseChange, request: Request) -> Response:
    await admin.audit(request, "database.startup-env")
    (admin.core.data_dir.path / MANAGED).unlink(missing_ok=True)
    return json_answer(StartupEnvWritten(startup_env=describe(admin)))


def _values(body: StartupEnvBody) -> dict[str, str]:
    """The file's variables. Raises BadRequest."""
    if body.engine == "sqlite":
        return {ENGINE: "sqlite"}
    if not (body.host and body.database and body.user):
        raise BadRequest("PostgreSQL needs host, database and user")
    url = make_url(body.host, body.port, body.database, body.user, body.password, body.sslmode)
    if any(mark in url for mark in "\r\n\0"):
        raise BadRequest("The host has characters that cannot be written")
    try:
        complete_url(url)
    except StartRefused as error:
        raise BadRequest(str(error)) from None
    return {ENGINE: "postgres", URL: url, SSLMODE: body.sslmode}


async def _test(url: str | None) -> Tested:
    from gateway_postgres.loading import probe

    if url is None:
        return Tested(ok=True, latency_ms=0)
    began = time.monotonic()
    error = version = None
    try:
        version = (await probe(url)).version
    except StartRefused as refused:
        error = str(refused)
    took = round((time.monotonic() - began) * 1000)
    return Tested(ok=not error, latency_ms=took, server_version=version, error=error)
