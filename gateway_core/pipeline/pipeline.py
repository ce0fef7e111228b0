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

from ..contracts.asgi import LEAVING, PUSH, REPLY, Header, Receive, Scope, Send
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
from ..metering.request_record import Trace
from ..routing.access_policy import check_further, narrowed
from ..routing.account_selection import PIN, Wanted, session_of
from ..routing.model_resolver import MAX_NAME
from ..routing.plan import Plan, plan_of
from ..routing.snapshot import Tables
from ..upstream.response_headers import passed_on
from ..upstream.transport import is_over
from .client_response import Client, ClientGone
from .context import Core
from .direct_stream import flow
from .dispatch import Answer, Job, Opened, blame_in_stream, dispatch
from .exchanges import client_side, encode_losses
from .fusion import fused
from .json_body import members_of
from .request_body import decoded, whole_body
from .request_head import Arrival, Route
from .token_counting import count_tokens
from .translation import Question

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

    tables: Tables
    question: Question
    trace: Trace
    at: Opened | Underway
    is_late: bool = False
    """Whether the client has waited long for a sign of life."""


async def infer(
    core: Core,
    arrival: Arrival,
    scope: Scope,
    receive: Receive,
    send: Send,
    started: Started | None = None,
) -> None:
    """Serve one request. Nothing that a client or a vendor does makes this raise."""
    route = arrival.route
    trace = begun(core, arrival, core.clock()) if started is None else started.trace
    offered = scope.get(PUSH), scope.get(REPLY), scope.get(LEAVING)
    client = Client(receive, send, trace.request_id, *offered)
    try:
        if started is None:
            await _serve(core, arrival, receive, client, trace)
        else:
            await _go_on(core, started, route.wire, client)
    except ClientGone:
        trace.status, trace.http_status = "client_gone", 499
    except asyncio.CancelledError:
        if core.is_stopping and not client.gone:
            _stay(asyncio.current_task())
            await refuse(route, client, trace, Unavailable("The gateway is stopping"))
            return
        trace.status, trace.http_status = "client_gone", 499
        if not client.gone:
            raise
        _stay(asyncio.current_task())
    except GatewayError as error:
        await refuse(route, client, trace, error)
    except (Exception, SystemExit, KeyboardInterrupt):  # what ends a process may be a plugin's
        log.exception("request %s failed", trace.request_id)
        await refuse(route, client, trace, GatewayError("Request failed"))
    finally:
        ended(core, trace)
        if not client.release():
            await client.close()


def begun(core: Core, arrival: Arrival, now: float) -> Trace:
    """A request begins. ``now`` is the wall clock's, in seconds."""
    wire = arrival.route.wire.id
    trace = Trace(core.new_id(), arrival.path, wire, now, arrival.key)
    core.in_flight.begin(trace)
    return trace


def ended(core: Core, trace: Trace) -> None:
    """A request is over, whatever became of it."""
    trace.over = time.monotonic()
    core.in_flight.end(trace)
    core.ledger.record(trace)
    if trace.detail is not None:
        core.observing.end(trace, trace.detail)


def _stay(task: "asyncio.Task[object] | None") -> None:
    """Undo the cancellation that told this task of its client's leaving."""
    if task is not None:
        task.uncancel()


async def _serve(
    core: Core, arrival: Arrival, receive: Receive, client: Client, trace: Trace
) -> None:
    client.unread = True
    if core.is_full:
        raise Unavailable("The gateway is short of memory; try again", retry_after=1)
    tables, route = core.tables, arrival.route
    if route.endpoint.json_only and not arrival.is_json:
        raise UnsupportedMedia("Content-Type must be application/json")
    body = await whole_body(receive, arrival.headers, core.max_body)
    client.unread = False
    body = decoded(body, arrival.headers, core.max_body)
    call = call_of(tables, arrival, body)
    trace.model, trace.stream = call.model[:MAX_NAME], call.stream
    client.watch()
    if core.observing.is_on:
        trace.detail = core.observing.begin(call)
        client.tap = trace.detail.say
    if core.interceptors.active:
        call = await core.interceptors.before(call)
    question = Question(call, tables.registry.formats, trace.started_at, tables.ways)
    if route.endpoint.counting is not None:
        await count_tokens(core, tables, route.endpoint.counting, question, client, trace)
        return
    _open_early(core, route.wire, call, client)
    answer = await _answer(core, tables, question, trace)
    await _deliver(core, tables, answer, call, client, trace)


async def _go_on(core: Core, started: Started, wire: WireFormat, client: Client) -> None:
    client.opened = isinstance(started.at, Underway) and started.at.is_open
    client.watch()
    _open_early(core, wire, started.question.call, client, is_late=started.is_late)
    tables, question, trace = started.tables, started.question, started.trace
    error = None
    if isinstance(started.at, Underway):
        answer, error = started.at.answer, started.at.error
        if started.at.written is not None:
            await started.at.written
    else:
        answer = await _answer(core, tables, question, trace, started.at)
    await _deliver(core, tables, answer, question.call, client, trace, error)


def call_of(tables: Tables, arrival: Arrival, body: bytes) -> Call:
    """What is asked, as far as routing reads it. Raises BadRequest, MissingKey, InvalidKey."""
    members = members_of(body)
    check_key(arrival.caller, required=tables.settings.require_api_key)
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
    core: Core, wire: WireFormat, call: Call, client: Client, *, is_late: bool = False
) -> None:
    """Keep the client of a slow stream from giving up, in a format that knows how."""
    if call.stream and wire.keep_alive is not None:
        beat = beat_of(core, wire.keep_alive)
        client.open_early(wire.keep_alive, beat, wire.stream_type, is_late=is_late)


def beat_of(core: Core, keep_alive: KeepAlive) -> float:
    """Seconds of silence between the frames that keep a stream alive; 0 for one frame only."""
    return core.environment.keepalive_ms / 1000 if keep_alive.every is None else keep_alive.every


async def _answer(
    core: Core, tables: Tables, question: Question, trace: Trace, opened: Opened | None = None
) -> Answer:
    call, key = question.call, trace.key
    laid = planned(core, tables, question)
    if laid.combo is not None:
        trace.combo_id, trace.combo_name = laid.combo.id, laid.combo.name
    if key is not None:
        laid = permitted(tables, key, laid, call)
        if key.has_limits and not trace.is_counted:
            await core.limits.admit(key)
            trace.is_counted = True
    wanted = wanted_of(call, laid, key)
    if laid.strategy == "fusion" and laid.combo is not None and len(laid.members) > 1:
        return await fused(core, tables, laid, question, wanted, trace)
    members = core.order.members(laid, tables, wanted.session, question.conversation)
    job = Job(
        opener=question.open,
        stream=call.stream,
        wanted=wanted,
        timeout=laid.timeout,
        insist=laid.combo is not None,
        opened=opened,
    )
    return await dispatch(core, tables, members, job, trace)


def planned(core: Core, tables: Tables, question: Question) -> Plan:
    """What may be tried for the model that is asked for. Raises as its parts do."""
    return plan_of(
        tables,
        question.call.model,
        question.call.kind,
        core.environment.combo_model_timeout_ms,
        decorated=question.client.decorated_models,
    )


def permitted(tables: Tables, key: Key, laid: Plan, call: Call) -> Plan:
    """The part of a plan that a key may use. Raises Forbidden."""
    check_further(key, call.members)
    return narrowed(tables, key, laid, call.model)


def wanted_of(call: Call, laid: Plan, key: Key | None) -> Wanted:
    allowed = frozenset(laid.combo.allowed_connection_ids if laid.combo else ())
    scope = frozenset[str]() if key is None else key.connections
    return Wanted(call.headers.get(PIN), allowed, scope, session_of(call))


async def _deliver(
    core: Core,
    tables: Tables,
    answer: Answer,
    call: Call,
    client: Client,
    trace: Trace,
    error: BaseException | None = None,
) -> None:
    exchange = answer.exchange
    trace.first_byte = trace.first_byte or time.monotonic()
    try:
        if error is not None:
            raise error
        headers = answer_headers(exchange, answer.response)
        if call.stream:
            await _stream(core, tables, answer, headers, call, client, trace)
        else:
            await _commit(core, call, answer, trace)
            await client.answer(200, answer.first, headers)
    finally:
        _account(call, answer, trace)
        if not is_over(answer.response):
            await answer.response.aclose()


def _account(call: Call, answer: Answer, trace: Trace) -> None:
    """Note what an answer used, once; its row may be written before the client has it all."""
    if not trace.is_recorded:
        account(call, answer.exchange, trace, is_over=answer.ended)


async def _commit(core: Core, call: Call, answer: Answer, trace: Trace) -> None:
    """Write the row of a limited key before its client sees the end of the answer."""
    if trace.is_counted:
        _account(call, answer, trace)
        trace.over = time.monotonic()
        await core.ledger.commit(trace)


async def _stream(
    core: Core,
    tables: Tables,
    answer: Answer,
    headers: tuple[Header, ...],
    call: Call,
    client: Client,
    trace: Trace,
) -> None:
    exchange, response = answer.exchange, answer.response
    first, answer.first = answer.first, b""
    last = first if answer.ended or (trace.is_counted and exchange.ended) else b""
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
            if is_over(response) or (trace.is_counted and exchange.ended):
                last += given
            elif given:
                await client.write(given)
    except TransportError as error:
        last += exchange.fail(error)
        trace.failed(error, "upstream_cut")
    if exchange.failure is not None:
        _note_failure(core, tables, answer, exchange.failure, trace)
    await _commit(core, call, answer, trace)
    await client.end(last)


def _note_failure(
    core: Core, tables: Tables, answer: Answer, failure: UpstreamError, trace: Trace
) -> None:
    if trace.status == "ok":
        trace.failed(failure, "upstream_cut" if answer.ended else "error")
    blame_in_stream(core, tables, answer, failure)


def answer_headers(exchange: Exchange, response: UpstreamResponse) -> tuple[Header, ...]:
    """Its type, the vendor's rate limits and request id, and what was lost on the way there."""
    headers = [(b"content-type", exchange.media_type.encode()), *passed_on(response)]
    if exchange.losses.names:
        headers.append((b"x-gateway-dropped", encode_losses(exchange.losses.names)))
    return tuple(headers)


async def refuse(route: Route, client: Client, trace: Trace, error: GatewayError) -> None:
    """Tell the client in its own format, whatever it has received so far."""
    if trace.status == "ok":
        trace.failed(error)
    body = client_side(route.wire).write_error(error, trace.request_id)
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
        trace.status = "client_gone"
