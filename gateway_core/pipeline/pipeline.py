"""One inference request, from the client's bytes to the client's bytes. Read this file first.

head       content type, body, members        413, 415, 400
admit      the key, if one is needed           401
resolve    what is meant                       400, 404
plan       members, in order                   503
permit     may this key call them              403
limit      how much is left                    429
dispatch   the first that answers              the last refusal
deliver    its bytes, as they come
record     one row, whatever happened
"""

import asyncio
import logging
import time
from math import ceil

from msgspec import Struct

from ..contracts.asgi import ON_DISCONNECT, PUSH, REPLY, Header, Receive, Scope, Send
from ..contracts.errors import (
    GatewayError,
    TransportError,
    Unavailable,
    UnsupportedMedia,
    UpstreamError,
)
from ..contracts.exchange import Exchange, UpstreamResponse
from ..contracts.provider import Call
from ..contracts.wire import KeepAlive, WireFormat
from ..identity.credentials import check_key
from ..identity.keys import Key
from ..metering.accounting import account
from ..metering.request_record import RequestRecord
from ..routing.access_policy import check_further, narrowed
from ..routing.account_selection import PIN, AccountConstraints, session_of
from ..routing.model_resolver import MAX_NAME
from ..routing.plan import Plan, build_plan
from ..routing.snapshot import ConfigSnapshot
from ..upstream.response_headers import passed_on
from ..upstream.transport import is_over
from .client_response import ClientGone, ClientResponse
from .context import Core
from .direct_stream import flow
from .dispatch import Answer, Job, Opened, blame_in_stream, dispatch
from .exchanges import client_side, encode_losses
from .fusion import fused
from .json_body import members_of
from .request_body import decoded, whole_body
from .request_head import RequestHead, Route
from .token_counting import count_tokens
from .translation import Translation

log = logging.getLogger(__name__)

JSON_HEADER: Header = (b"content-type", b"application/json")


class Underway(Struct, frozen=True):
    """An answer that means something, of which ``answer.first`` is still to be sent."""

    answer: Answer
    is_open: bool
    """Whether the client has its head."""
    error: BaseException | None = None
    """What stopped it, if something did."""
    written: "asyncio.Future[None] | None" = None
    """Done once its row is written, where that comes first."""


class Started(Struct, frozen=True):
    """A request that is on its way already, and how far it has come."""

    snapshot: ConfigSnapshot
    question: Translation
    record: RequestRecord
    at: Opened | Underway
    is_late: bool = False
    """Whether the client has waited long for a sign of life."""


async def infer(
    core: Core,
    arrival: RequestHead,
    scope: Scope,
    receive: Receive,
    send: Send,
    started: Started | None = None,
) -> None:
    """Serve one request. Nothing that a client or a vendor does makes this raise."""
    route = arrival.route
    record = begun(core, arrival, core.clock()) if started is None else started.record
    offered = scope.get(PUSH), scope.get(REPLY), scope.get(ON_DISCONNECT)
    client = ClientResponse(receive, send, record.request_id, *offered)
    try:
        if started is None:
            await _serve(core, arrival, receive, client, record)
        else:
            await _go_on(core, started, route.wire, client)
    except ClientGone:
        record.status, record.http_status = "client_gone", 499
    except asyncio.CancelledError:
        if core.is_stopping and not client.gone:
            _stay(asyncio.current_task())
            await refuse(route, client, record, Unavailable("The gateway is stopping"))
            return
        record.status, record.http_status = "client_gone", 499
        if not client.gone:
            raise
        _stay(asyncio.current_task())
    except GatewayError as error:
        await refuse(route, client, record, error)
    except (Exception, SystemExit, KeyboardInterrupt):  # what ends a process may be a plugin's
        log.exception("request %s failed", record.request_id)
        await refuse(route, client, record, GatewayError("Request failed"))
    finally:
        ended(core, record)
        if not client.release():
            await client.close()


def begun(core: Core, arrival: RequestHead, now: float) -> RequestRecord:
    """A request begins. ``now`` is the wall clock's, in seconds."""
    wire = arrival.route.wire.id
    record = RequestRecord(core.new_id(), arrival.path, wire, now, arrival.key)
    core.in_flight.begin(record)
    return record


def ended(core: Core, record: RequestRecord) -> None:
    """A request is over, whatever became of it."""
    record.over = time.monotonic()
    core.in_flight.end(record)
    core.ledger.record(record)
    if record.detail is not None:
        core.request_log.end(record, record.detail)


def _stay(task: "asyncio.Task[object] | None") -> None:
    """Undo the cancellation that told this task of its client's leaving."""
    if task is not None:
        task.uncancel()


async def _serve(
    core: Core,
    arrival: RequestHead,
    receive: Receive,
    client: ClientResponse,
    record: RequestRecord,
) -> None:
    client.unread = True
    if core.is_full:
        raise Unavailable("The gateway is short of memory; try again", retry_after=1)
    snapshot, route = core.snapshot, arrival.route
    if route.endpoint.json_only and not arrival.is_json:
        raise UnsupportedMedia("Content-Type must be application/json")
    body = await whole_body(receive, arrival.headers, core.max_body)
    client.unread = False
    body = decoded(body, arrival.headers, core.max_body)
    call = call_of(snapshot, arrival, body)
    record.model, record.stream = call.model[:MAX_NAME], call.stream
    client.watch()
    if core.request_log.is_on:
        record.detail = core.request_log.begin(call)
        client.tap = record.detail.say
    if core.interceptors.active:
        call = await core.interceptors.before(call)
    question = Translation(call, snapshot.registry.formats, record.started_at, snapshot.ways)
    if route.endpoint.counting is not None:
        await count_tokens(core, snapshot, route.endpoint.counting, question, client, record)
        return
    _open_early(core, route.wire, call, client)
    answer = await _answer(core, snapshot, question, record)
    await _deliver(core, snapshot, answer, call, client, record)


async def _go_on(core: Core, started: Started, wire: WireFormat, client: ClientResponse) -> None:
    client.opened = isinstance(started.at, Underway) and started.at.is_open
    client.watch()
    _open_early(core, wire, started.question.call, client, is_late=started.is_late)
    snapshot, question, record = started.snapshot, started.question, started.record
    error = None
    if isinstance(started.at, Underway):
        answer, error = started.at.answer, started.at.error
        if started.at.written is not None:
            await started.at.written
    else:
        answer = await _answer(core, snapshot, question, record, started.at)
    await _deliver(core, snapshot, answer, question.call, client, record, error)


def call_of(snapshot: ConfigSnapshot, arrival: RequestHead, body: bytes) -> Call:
    """What is asked, as far as routing reads it. Raises BadRequest, MissingKey, InvalidKey."""
    members = members_of(body)
    check_key(arrival.caller, required=snapshot.settings.require_api_key)
    route = arrival.route
    intake = route.endpoint.read(arrival.parameters, arrival.headers, members)
    return Call(
        kind=route.endpoint.kind,
        format=route.wire.id,
        model=intake.model,
        stream=intake.stream,
        body=body,
        members=members,
        headers=arrival.headers,
        path=arrival.parameters,
    )


def _open_early(
    core: Core, wire: WireFormat, call: Call, client: ClientResponse, *, is_late: bool = False
) -> None:
    """Keep the client of a slow stream from giving up, in a format that knows how."""
    if call.stream and wire.keep_alive is not None:
        beat = beat_of(core, wire.keep_alive)
        client.open_early(wire.keep_alive, beat, wire.stream_type, is_late=is_late)


def beat_of(core: Core, keep_alive: KeepAlive) -> float:
    """Seconds of silence between the frames that keep a stream alive; 0 for one frame only."""
    return core.environment.keepalive_ms / 1000 if keep_alive.every is None else keep_alive.every


async def _answer(
    core: Core,
    snapshot: ConfigSnapshot,
    question: Translation,
    record: RequestRecord,
    opened: Opened | None = None,
) -> Answer:
    call, key = question.call, record.key
    plan = planned(core, snapshot, question)
    if plan.combo is not None:
        record.combo_id, record.combo_name = plan.combo.id, plan.combo.name
    if key is not None:
        plan = permitted(snapshot, key, plan, call)
        if key.has_limits and not record.is_counted:
            await core.limits.admit(key)
            record.is_counted = True
    wanted = wanted_of(call, plan, key)
    if plan.strategy == "fusion" and plan.combo is not None and len(plan.members) > 1:
        return await fused(core, snapshot, plan, question, wanted, record)
    members = core.order.members(plan, snapshot, wanted.session, question.conversation)
    job = Job(
        opener=question.open,
        stream=call.stream,
        wanted=wanted,
        timeout=plan.timeout,
        insist=plan.combo is not None,
        opened=opened,
    )
    return await dispatch(core, snapshot, members, job, record)


def planned(core: Core, snapshot: ConfigSnapshot, question: Translation) -> Plan:
    """What may be tried for the model that is asked for. Raises as its parts do."""
    return build_plan(
        snapshot,
        question.call.model,
        question.call.kind,
        core.environment.combo_model_timeout_ms,
        decorated=question.client.decorated_models,
    )


def permitted(snapshot: ConfigSnapshot, key: Key, plan: Plan, call: Call) -> Plan:
    """The part of a plan that a key may use. Raises Forbidden."""
    check_further(key, call.members)
    return narrowed(snapshot, key, plan, call.model)


def wanted_of(call: Call, plan: Plan, key: Key | None) -> AccountConstraints:
    allowed = frozenset(plan.combo.allowed_connection_ids if plan.combo else ())
    scope = frozenset[str]() if key is None else key.connections
    return AccountConstraints(call.headers.get(PIN), allowed, scope, session_of(call))


async def _deliver(
    core: Core,
    snapshot: ConfigSnapshot,
    answer: Answer,
    call: Call,
    client: ClientResponse,
    record: RequestRecord,
    error: BaseException | None = None,
) -> None:
    exchange = answer.exchange
    record.first_byte = record.first_byte or time.monotonic()
    try:
        if error is not None:
            raise error
        headers = answer_headers(exchange, answer.response)
        if call.stream:
            await _stream(core, snapshot, answer, headers, call, client, record)
        else:
            await _commit(core, call, answer, record)
            await client.answer(200, answer.first, headers)
    finally:
        _account(call, answer, record)
        if not is_over(answer.response):
            await answer.response.aclose()


def _account(call: Call, answer: Answer, record: RequestRecord) -> None:
    """Note what an answer used, once; its row may be written before the client has it all."""
    if not record.is_recorded:
        account(call, answer.exchange, record, is_over=answer.ended)


async def _commit(core: Core, call: Call, answer: Answer, record: RequestRecord) -> None:
    """Write the row of a limited key before its client sees the end of the answer."""
    if record.is_counted:
        _account(call, answer, record)
        record.over = time.monotonic()
        await core.ledger.commit(record)


async def _stream(
    core: Core,
    snapshot: ConfigSnapshot,
    answer: Answer,
    headers: tuple[Header, ...],
    call: Call,
    client: ClientResponse,
    record: RequestRecord,
) -> None:
    exchange, response = answer.exchange, answer.response
    first, answer.first = answer.first, b""
    last = first if answer.ended or (record.is_counted and exchange.ended) else b""
    await client.begin(headers, b"" if last else first)
    first = b""  # What was sent is not kept while the client takes its time.
    try:
        while not answer.ended and exchange.failure is None:
            given = await flow(exchange, response, client)
            if not given and exchange.failure is None:
                chunk = await response.next()
                if not chunk:
                    last, answer.ended = last + exchange.close(), True
                    break
                given = exchange.feed(chunk)
                chunk = b""
            if is_over(response) or (record.is_counted and exchange.ended):
                last += given
            elif given:
                await client.write(given)
    except TransportError as error:
        last += exchange.fail(error)
        record.failed(error, "upstream_cut")
    if exchange.failure is not None:
        _note_failure(core, snapshot, answer, exchange.failure, record)
    await _commit(core, call, answer, record)
    await client.end(last)


def _note_failure(
    core: Core,
    snapshot: ConfigSnapshot,
    answer: Answer,
    failure: UpstreamError,
    record: RequestRecord,
) -> None:
    if record.status == "ok":
        record.failed(failure, "upstream_cut" if answer.ended else "error")
    blame_in_stream(core, snapshot, answer, failure)


def answer_headers(exchange: Exchange, response: UpstreamResponse) -> tuple[Header, ...]:
    """Its type, the vendor's rate limits and request id, and what was lost on the way there."""
    headers = [(b"content-type", exchange.media_type.encode()), *passed_on(response)]
    if exchange.losses.names:
        headers.append((b"x-gateway-dropped", encode_losses(exchange.losses.names)))
    return tuple(headers)


async def refuse(
    route: Route, client: ClientResponse, record: RequestRecord, error: GatewayError
) -> None:
    """Tell the client in its own format, whatever it has received so far."""
    if record.status == "ok":
        record.failed(error)
    body = client_side(route.wire).write_error(error, record.request_id)
    headers: list[Header] = [JSON_HEADER]
    if error.retry_after is not None:
        headers.append((b"retry-after", str(max(1, ceil(error.retry_after))).encode()))
    try:
        await client.settle()
        if client.opened:
            await client.end(route.wire.late_error(body))
        else:
            await client.answer(error.status, body, tuple(headers))
    except (ClientGone, asyncio.CancelledError):
        record.status = "client_gone"
