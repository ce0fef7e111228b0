"""Testing models with a one-token request, one or up to two hundred (A.5)."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, Forbidden, GatewayError, TransportError
from gateway_core.contracts.kinds import Kind, read_kind
from gateway_core.http.operations import STREAM, Guarded
from gateway_core.http.responses import json_answer
from gateway_core.metering.request_record import RequestRecord
from gateway_core.routing.account_selection import AccountConstraints
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.plan import plan_resolved
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_core.upstream.redaction import redact, secrets_of

from ..accounts.probes.minimal_call import build_minimal_call, call_members, intercept
from ..accounts.routes import connection_of
from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, strip
from ..streams import Frames
from .bodies import Asked, ModelBatchBody, TestBody
from .kinds import kind_of
from .service_tests import run_service_test
from .views import TestOutcome

PATH = "/api/models/test"
LIMIT = 15.0
"""Seconds for one model."""
AT_ONCE = 10
TURNED_AWAY = (401, 403, 504)
SKIPPED = "Skipped: provider unavailable"
log = logging.getLogger(__name__)


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "POST",
            PATH,
            test,
            "test the model",
            body=TestBody,
            answer=TestOutcome,
            example={"model": "echo/echo"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/batch",
            test_batch,
            "test the models",
            body=ModelBatchBody,
            media=STREAM,
            example={"models": [{"model": "echo/echo"}, {"model": "echo/echo-tools"}]},
        ),
    ]


async def test(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, TestBody)
    check_model(admin.snapshot, body)
    await _check_pin(admin, request, body.connection_id)
    outcome, _ = await test_model(admin, body, body.connection_id)
    return json_answer(outcome)


async def test_batch(admin: AdminContext, request: Request) -> Response:
    """Test the first model alone: when its provider is unavailable, skip the others."""
    body = await read_json(request, ModelBatchBody)
    for each in body.models:
        check_model(admin.snapshot, each)
    await _check_pin(admin, request, body.connection_id)
    return Frames(_frames(admin, body.models, body.connection_id))


def check_model(snapshot: ConfigSnapshot, model: Asked) -> None:
    """Raises BadRequest."""
    if not strip(model.model):
        raise BadRequest("Model required")
    kind_of(snapshot, model.kind)


async def _check_pin(admin: AdminContext, request: Request, connection_id: str | None) -> None:
    """Raises Forbidden for an API key, NotFound, or BadRequest for an account not in use."""
    if connection_id and not admin.caller(request).is_operator:
        raise Forbidden("An API key cannot pin a test to a connection")
    if connection_id and not (await connection_of(admin, connection_id)).is_active:
        raise BadRequest("Connection is not active")


async def _frames(
    admin: AdminContext, models: Sequence[Asked], pinned: str | None
) -> AsyncGenerator[bytes, None]:
    first, *others = models
    outcome, unavailable = await test_model(admin, first, pinned)
    yield _frame(first, outcome)
    if unavailable:
        skipped = TestOutcome(ok=False, latency_ms=0, error=SKIPPED, status=outcome.status)
        for each in others:
            yield _frame(each, skipped)
    else:
        async with aclosing(_side_by_side(admin, others, pinned)) as frames:
            async for frame in frames:
                yield frame
    yield b'data: {"done":true}\n\n'


async def _side_by_side(
    admin: AdminContext, models: Sequence[Asked], pinned: str | None
) -> AsyncGenerator[bytes, None]:
    """Yield frames in the order of completion."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(model: Asked) -> bytes:
        async with gate:
            return _frame(model, (await test_model(admin, model, pinned))[0])

    tasks = [asyncio.create_task(one(model)) for model in models]
    try:
        for answered in asyncio.as_completed(tasks):
            yield await answered
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _frame(model: Asked, outcome: TestOutcome) -> bytes:
    row: dict[str, Any] = {"model": model.model, "kind": read_kind(model.kind)}
    return b"data: %b\n\n" % msgspec.json.encode({**row, **msgspec.to_builtins(outcome)})


async def test_model(
    admin: AdminContext, model: Asked, pinned: str | None
) -> tuple[TestOutcome, bool]:
    """Test a model; also returns whether its provider was unavailable."""
    record = RequestRecord(admin.core.new_id(), PATH, "", admin.core.clock())
    record.model = strip(model.model)
    error: GatewayError | None = None
    try:
        async with asyncio.timeout(LIMIT):
            await _run_test(admin, read_kind(model.kind), pinned, record)
    except TimeoutError:
        error = TransportError(f"The model did not answer in {LIMIT:g} s", status=504)
    except GatewayError as caught:
        error = caught
    except Exception:
        log.exception("the test of a model failed")
        error = GatewayError("The test failed")
    record.over = time.monotonic()
    if error is not None:
        record.failed(error)
    admin.core.ledger.record(record)
    took = round((record.over - record.begun) * 1000)
    if error is None:
        return TestOutcome(ok=True, latency_ms=took, error=None, status=200), False
    # The message may repeat the secret of any account, so all of them are redacted.
    accounts = (each for accounts in admin.snapshot.accounts.values() for each in accounts)
    secrets = [secret for account in accounts for secret in secrets_of(account.credential)]
    text = redact(error.message, secrets)
    outcome = TestOutcome(ok=False, latency_ms=took, error=text, status=error.status)
    return outcome, error.status in TURNED_AWAY or isinstance(error, TransportError)


async def _run_test(
    admin: AdminContext, kind: str, pinned: str | None, record: RequestRecord
) -> None:
    """Raises GatewayError when the test fails."""
    core, snapshot = admin.core, admin.snapshot
    if kind != Kind.LLM:
        await run_service_test(core, snapshot, kind, record, pinned)
        return
    translation = await intercept(core, build_minimal_call(snapshot.registry.formats, record.model))
    resolved = resolve(snapshot, translation.call.model)
    plan = plan_resolved(snapshot, resolved, kind, core.environment.combo_model_timeout_ms)
    allowed: tuple[str, ...] = ()
    if plan.combo is not None:
        record.combo_id, record.combo_name = plan.combo.id, plan.combo.name
        allowed = plan.combo.allowed_connection_ids
    constraints = AccountConstraints(pinned=pinned, allowed=frozenset(allowed))
    members = core.order.members(plan, snapshot, None, translation.conversation)
    await call_members(
        core, snapshot, translation, members, record, constraints=constraints, timeout=plan.timeout
    )
