"""Testing accounts: a stored one, one that is not stored yet, many at once (A.1, P.6)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection

from ..admin_context import AdminContext
from ..destinations import BASE_URL, permit_all
from ..endpoint import endpoint
from ..models.bodies import Asked
from ..models.sync import sync_own_server
from ..models.testing import check_model, test_model
from ..requests import read_json, strip
from .bodies import BatchBody, CandidateBody, ConnectionBody, ModelsBody
from .changes import check_proxy, read_provider_data
from .owners import owner_of, stored_owner
from .probes.checks import LIMIT
from .probes.findings import Finding
from .probes.subjects import build_candidate, check_account, check_connection
from .routes import check_address, connection_of
from .views import (
    BatchedTest,
    BatchSummary,
    ConnectionBatch,
    ConnectionTest,
    TestedModel,
    TestedModels,
    Validity,
)

AT_ONCE = 10
Choice = Callable[[Connection], bool]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            "/api/providers/validate",
            validate,
            "validate the key",
            body=CandidateBody,
            answer=Validity,
            example={"provider": "openai", "apiKey": "sk-..."},
        ),
        endpoint(
            admin,
            "POST",
            "/api/providers/test-batch",
            test_batch,
            "test connections",
            body=BatchBody,
            answer=ConnectionBatch,
            example={"mode": "provider", "providerId": "openai"},
        ),
        endpoint(
            admin,
            "POST",
            "/api/providers/{id}/test",
            test,
            "test the connection",
            answer=ConnectionTest,
        ),
        endpoint(
            admin,
            "POST",
            "/api/providers/{id}/test-models",
            test_models,
            "test the models",
            access=Access.OPERATOR,
            body=ModelsBody,
            answer=TestedModels,
            example={"models": [{"model": "large"}]},
        ),
    ]


async def validate(admin: AdminContext, request: Request) -> Response:
    """Test a key that is not stored."""
    body = await read_json(request, CandidateBody)
    provider, key = strip(body.provider), strip(body.api_key)
    if not provider:
        raise BadRequest("Provider and API key required")
    owner = await owner_of(admin, provider)
    if not key and owner.auth_type not in ("none", "optional"):
        raise BadRequest("Provider and API key required")
    check_address(admin, request, _with_address(body))
    data = read_provider_data(_with_address(body), owner, admin.snapshot.pools)
    check_proxy(data)
    await permit_all(admin.core.network, owner.own(data))
    account = build_candidate(admin, owner.id, key, data)
    checked = await check_account(admin, account, owner, None, request.scope["path"], LIMIT)
    return json_answer(Validity(valid=checked.finding.valid, error=checked.finding.error))


def _with_address(body: CandidateBody) -> ConnectionBody:
    data = dict(body.provider_specific_data or {})
    if strip(body.base_url):
        data[BASE_URL] = strip(body.base_url)
    return ConnectionBody(provider_specific_data=data)


async def test(admin: AdminContext, request: Request) -> Response:
    """Test a stored account, active or not, and store the result."""
    connection = await connection_of(admin, request.path_params["id"])
    finding = await _test_connection(admin, connection, request.scope["path"])
    return json_answer(
        ConnectionTest(
            valid=finding.valid,
            error=finding.error,
            latency_ms=finding.latency_ms,
            status_code=finding.status_code,
            diagnosis=finding.diagnosis,
        )
    )


async def _test_connection(admin: AdminContext, connection: Connection, path: str) -> Finding:
    owner = await stored_owner(admin, connection.provider)
    finding = (await check_connection(admin, connection, owner, path, LIMIT)).finding
    await admin.stores.connections.note(
        {connection.id: status_members(finding, admin.core.clock())}
    )
    if finding.valid:
        admin.core.cooldowns.clear([connection.id], EVERY_MODEL)
        await sync_own_server(admin, connection.provider)
    return finding


def status_members(finding: Finding, now: float) -> Mapping[str, Any]:
    """Return the members of the account's row that a finding sets."""
    if finding.valid:
        cleared = ("lastError", "lastErrorAt", "errorCode", "backoffLevel")
        return {"testStatus": "active", **dict.fromkeys(cleared)}
    return {
        "testStatus": "error",
        "lastError": finding.error,
        "lastErrorAt": iso(now),
        "errorCode": finding.status_code,
    }


async def test_batch(admin: AdminContext, request: Request) -> Response:
    """Test many accounts, ten at a time."""
    body = await read_json(request, BatchBody)
    chosen = await _chosen(admin, body)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(connection: Connection) -> BatchedTest:
        async with gate:
            finding = await _test_connection(admin, connection, request.scope["path"])
        return BatchedTest(
            provider=connection.provider,
            connection_id=connection.id,
            connection_name=connection.name,
            auth_type=connection.auth_type,
            valid=finding.valid,
            latency_ms=finding.latency_ms,
            error=finding.error,
            diagnosis=finding.diagnosis,
            status_code=finding.status_code,
            tested_at=iso(admin.core.clock()),
        )

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(each)) for each in chosen]
    results = tuple(task.result() for task in tasks)
    passed = sum(result.valid for result in results)
    return json_answer(
        ConnectionBatch(
            mode=body.mode,
            provider_id=body.provider_id,
            results=results,
            tested_at=iso(admin.core.clock()),
            summary=BatchSummary(total=len(results), passed=passed, failed=len(results) - passed),
        )
    )


async def _chosen(admin: AdminContext, body: BatchBody) -> Sequence[Connection]:
    """The accounts a body names, or the active ones of its mode. Raises BadRequest."""
    if body.ids is not None:
        return [await connection_of(admin, identity) for identity in dict.fromkeys(body.ids)]
    if body.mode == "provider" and not strip(body.provider_id):
        raise BadRequest("providerId is required")
    nodes = {node.id for node in await admin.stores.nodes.list()}
    specs = admin.snapshot.registry.providers.values()
    free = {spec.id for spec in specs if spec.free or spec.auth.type == "none"}
    modes: Mapping[str, Choice] = {
        "all": lambda each: True,
        "provider": lambda each: each.provider == admin.provider_id(strip(body.provider_id)),
        "oauth": lambda each: each.auth_type == "oauth",
        "apikey": lambda each: each.auth_type == "apikey" and each.provider not in nodes,
        "free": lambda each: each.provider in free,
        "compatible": lambda each: each.provider in nodes,
    }
    choice = modes.get(body.mode or "")
    if choice is None:
        raise BadRequest(f"Invalid mode: {', '.join(modes)} are possible")
    stored = await admin.stores.connections.list()
    return [each for each in stored if each.is_active and choice(each)]


async def test_models(admin: AdminContext, request: Request) -> Response:
    """Test models with this account. An id without prefix is the provider's."""
    body = await read_json(request, ModelsBody)
    for each in body.models:
        check_model(admin.snapshot, each)
    connection = await connection_of(admin, request.path_params["id"])
    if not connection.is_active:
        raise BadRequest("Connection is not active")
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(model: Asked) -> TestedModel:
        name = model.model.strip()
        prefix, slash, _ = name.partition("/")
        if not slash or admin.provider_id(prefix) != connection.provider:
            name = f"{connection.provider}/{name}"
        async with gate:
            outcome, _ = await test_model(
                admin, msgspec.structs.replace(model, model=name), connection.id
            )
        return TestedModel(
            model=model.model,
            kind=model.kind,
            ok=outcome.ok,
            latency_ms=outcome.latency_ms,
            error=outcome.error,
            status=outcome.status,
        )

    return json_answer(TestedModels(results=tuple(await asyncio.gather(*map(one, body.models)))))
