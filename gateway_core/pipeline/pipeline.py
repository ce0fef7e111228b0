"""The asyncio driver of a request: everything that may wait. Read this file first.

body       content type, length, coding        413, 415, 400
read       the key, if one is needed           401
plan       what is meant, members in order     400, 404, 503
           which of them the key may use       403
admit      how much the key has left           429
dispatch   the first member that answers       the last refusal
deliver    its bytes, as they come
finish     one row, whatever happened

The rules of each step are ``RequestRun``'s, which the fast path drives too.
"""

import asyncio
import logging
from math import ceil

from msgspec.structs import replace

from ..config.temporary_file import TemporaryFile
from ..contracts.asgi import ON_DISCONNECT, PUSH, PUSHED, REPLY, Header, Receive, Scope, Send
from ..contracts.conversation import Conversation
from ..contracts.errors import (
    BadRequest,
    Forbidden,
    GatewayError,
    TransportError,
    Unavailable,
    UnsupportedMedia,
)
from ..contracts.kinds import Kind
from ..contracts.wire import Answered, KeepAlive
from ..routing.plan import Plan
from ..routing.service_plan import no_provider, server_address
from ..upstream.transport import AddressForbidden, MalformedUrl, UpstreamAnswer, is_over
from .attempt import Attempt
from .client_response import ClientGone, ClientResponse
from .context import Collaborators
from .direct_stream import DirectStream
from .dispatch import FirstAttempt, Job, dispatch
from .error_bodies import write_error
from .form_body import is_form, read_form
from .fusion import fuse
from .interceptors import ConversationReader
from .request_body import decode, whole_body
from .request_head import RequestHead
from .request_run import RequestRun
from .token_counting import count_tokens

log = logging.getLogger(__name__)

JSON_HEADER: Header = (b"content-type", b"application/json")


async def infer(
    core: Collaborators, head: RequestHead, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve one request. Nothing that a client or a vendor does makes this raise."""
    run = core.new_run(core, head)
    core.in_flight.begin(run.record)
    await drive(run, scope, receive, send)


async def drive(run: RequestRun, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a request from wherever it stands: the fast path may have sent it already."""
    record = run.record
    extensions = scope.get(PUSH), scope.get(PUSHED), scope.get(REPLY), scope.get(ON_DISCONNECT)
    client = ClientResponse(receive, send, record.request_id, *extensions)
    client.is_shared = run.head.is_shared
    try:
        if run.sent is None and not run.is_answering:
            if not await _prepare(run, receive, client):
                return
        else:
            client.opened = run.is_open
            client.watch()
            _open_early(run, client)
        if not run.is_answering:
            try:
                run.on_answer(await _answer(run))
            except Answered as answered:
                run.write_row()
                await _acknowledge(run, client, answered)
                return
        await _deliver(run, client)
    except ClientGone:
        run.on_client_gone()
    except asyncio.CancelledError:
        # Two things cancel this task: the client's leaving, and a stop whose time is up.
        if run.core.state.is_stopping and not client.gone:
            _undo_cancellation()
            await refuse(run, client, Unavailable("The gateway is stopping"))
            return
        run.on_client_gone()
        if not client.gone:
            raise
        _undo_cancellation()
    except GatewayError as error:
        await refuse(run, client, run.worded(error))
    except (Exception, SystemExit, KeyboardInterrupt):  # what ends a process may be a plugin's
        log.exception("request %s failed", record.request_id)
        await refuse(run, client, GatewayError("Request failed"))
    finally:
        run.finish()
        if run.reserved:
            run.core.body_memory.release(run.reserved)
        if not client.release():
            await client.close()


def _undo_cancellation() -> None:
    """The cancellation only said that the client had left, or that the gateway stops."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def _prepare(run: RequestRun, receive: Receive, client: ClientResponse) -> bool:
    """Read the request; false where it is answered already."""
    core, head = run.core, run.head
    client.unread = True
    if core.state.is_full:
        raise Unavailable("The gateway is short of memory; try again", retry_after=1)
    endpoint = head.route.endpoint
    if endpoint.json_only and not head.is_json:
        raise UnsupportedMedia("Content-Type must be application/json")
    # The length is checked before a byte is read, and again while bytes arrive.
    if endpoint.body == "none":
        run.read(b"", {})
    elif endpoint.body == "form" or (endpoint.body == "json or form" and is_form(head.headers)):
        limit = core.max_body if endpoint.form_limit is None else endpoint.form_limit
        folder = core.data_dir.path
        run.form = await read_form(receive, head.headers, limit, lambda: TemporaryFile(folder))
        client.unread = False
        run.form.require(endpoint.files)
        run.read(b"", run.form.members, tuple(run.form.parts))
    else:
        body = await whole_body(receive, head.headers, core.max_body, run.reserve)
        client.unread = False  # A refusal from here on need not read on first.
        run.read(decode(body, head.headers, core.max_body, run.reserve))
    for url in run.urls:
        await _check_public(core, url)
    client.watch()
    if core.request_log.is_on:
        # Before interceptors, which may change or refuse the call.
        run.record.detail = core.request_log.begin(run.call)
        client.tap = run.record.detail.say
    if core.interceptors.active or core.state.filtering is not None:
        await _ask_plugins(run)
    if endpoint.counting is not None:
        counted = await count_tokens(
            core, run.snapshot, endpoint.counting, run.translation, run.record
        )
        run.write_row()
        await client.answer(200, counted, (JSON_HEADER,))
        return False
    _open_early(run, client)
    return True


async def _ask_plugins(run: RequestRun) -> None:
    """Raises the GatewayError with which an interceptor refuses the call."""
    core, key = run.core, run.record.key
    reader, key_id = ConversationReader(run.translation.formats), None if key is None else key.id
    call = replace(run.call, key_id=key_id, reader=reader, noter=run.record.note)
    run.use(await core.interceptors.before(call))
    if core.state.filtering is not None and call.kind == Kind.LLM:
        run.filtering = core.state.filtering.attach(run)


async def _check_public(core: Collaborators, url: str) -> None:
    """Raises BadRequest, Forbidden for an address that no vendor may be asked to fetch."""
    try:
        await core.network.permit(url)
    except MalformedUrl:
        raise BadRequest("Invalid URL: it must be a public http or https address") from None
    except AddressForbidden:
        raise Forbidden("The address is not public", code="address_forbidden") from None
    except TransportError:
        # The vendor fetches it, and may know names that are not known here.
        log.debug("the name of an address to fetch is not known here")


def _open_early(run: RequestRun, client: ClientResponse) -> None:
    """Keep the client of a slow stream from giving up, in a format that knows how."""
    keep_alive = run.keep_alive if run.call.stream else None
    if keep_alive is not None:
        interval, media_type = (
            keep_alive_interval(run.core, keep_alive),
            run.head.route.wire.stream_type,
        )
        client.open_early(keep_alive, interval, media_type, is_late=run.is_late)


def keep_alive_interval(core: Collaborators, keep_alive: KeepAlive) -> float:
    """Seconds of silence between the frames that keep a stream alive; 0 for one frame only."""
    return core.environment.keepalive_ms / 1000 if keep_alive.every is None else keep_alive.every


async def _answer(run: RequestRun) -> Attempt:
    """The first member that answers. Raises the last refusal, or why there was nobody to ask."""
    core, snapshot, record = run.core, run.snapshot, run.record
    if run.checkpoints is not None:
        await run.checkpoints.before_plan()
    plan = run.plan()
    if core.state.group_limits is not None:
        await core.state.group_limits.admit(run, plan)
    if record.key is not None and record.key.has_limits and not record.is_counted:
        await core.limits.admit(record.key)
        record.is_counted = True
    if plan.is_route:
        plan = await _on_route(core, run, plan)
    constraints = run.constraints(plan)
    if plan.strategy == "fusion" and plan.combo is not None and len(plan.members) > 1:
        return await fuse(core, snapshot, plan, run.translation, constraints, record)
    is_chat = run.call.kind == Kind.LLM
    conversation = run.translation.conversation if is_chat else Conversation
    members = core.order.members(plan, snapshot, constraints.session, conversation)
    job = Job(
        opener=run.translation.open if is_chat else run.open_service,
        stream=run.call.stream,
        constraints=constraints,
        timeout=plan.timeout,
        timeout_status=run.head.route.endpoint.timeout_status,
        insist=plan.combo is not None and is_chat,
        is_service=not is_chat,
        answer_limit=run.head.route.endpoint.answer_limit,
        is_route=plan.is_route,
        is_final=plan.is_final,
        filtering=run.filtering,
    )
    first = None if run.sent is None else FirstAttempt(run.attempt, run.response_head)
    return await dispatch(core, snapshot, members, job, record, first)


async def _acknowledge(run: RequestRun, client: ClientResponse, answered: Answered) -> None:
    """Send the answer that is known without a vendor."""
    stream_type = run.head.route.wire.stream_type.encode()
    media_type = (b"content-type", stream_type) if run.call.stream else JSON_HEADER
    await client.answer(200, answered.write(int(run.record.started_at)), (media_type,))


async def _on_route(core: Collaborators, run: RequestRun, plan: Plan) -> Plan:
    """The plan of a media route without models whose server is not there; the first one alone
    where no other model may stand in for it. Raises NoProviderForKind where none is left."""
    endpoint, members = run.head.route.endpoint, []
    for member in plan.members:
        accounts = run.snapshot.accounts.get(member.target.provider.id, ())
        address = server_address(member.target.provider, accounts)
        if address is None or await core.reachability.check(address):
            members.append(member)
            if endpoint.fallback != "models":
                break
    if not members:
        raise no_provider(endpoint)
    return replace(plan, members=tuple(members))


async def _deliver(run: RequestRun, client: ClientResponse) -> None:
    attempt = run.attempt
    try:
        if run.error is not None:
            raise run.error
        if run.checkpoints is not None:
            await run.checkpoints.before_answer()
        filtered = run.filtering
        headers = run.response_headers() if filtered is None else await filtered.begin()
        if run.head.route.endpoint.shows_account:
            headers += run.account_headers()
        # Bytes that arrive slowly are sent as they come, whatever the client has asked for.
        is_streamed = run.call.stream or not attempt.is_complete
        if is_streamed:
            late = run.late_losses() if client.is_early and not run.is_open else b""
            await client.begin(headers, late + run.take_output())
            await (pass_on(run, client) if filtered is None else filtered.stream(client))
        if run.checkpoints is not None:
            await run.checkpoints.before_end()
        run.close()
        if not is_streamed:
            await client.answer(run.status, attempt.pending, headers)
        elif run.call.stream or attempt.exchange.failure is None:
            await client.end(run.ending + attempt.pending)
        # Bytes that broke off get no end: the server closes the connection, and the client sees
        # that something is missing (RFC 9112, section 8).
    finally:
        response = attempt.response
        if response is not None and not is_over(response):
            await response.aclose()


async def pass_on(run: RequestRun, client: ClientResponse) -> None:
    """Send a stream on as it arrives, up to what the run holds back for its end."""
    attempt = run.attempt
    response = attempt.response
    assert response is not None
    try:
        while run.is_streaming:
            push = client.quick()
            # Callbacks carry the stream until one piece needs this task.
            if push is not None and isinstance(response, UpstreamAnswer):
                await response.flow(DirectStream(attempt, push).taker)
            if run.is_streaming and not attempt.pending:
                run.on_chunk(await response.next())
            if attempt.pending:
                await client.write(run.take_output())
    except TransportError as error:
        run.on_error(error)


async def refuse(run: RequestRun, client: ClientResponse, error: GatewayError) -> None:
    """Report an error in the client's own format, whatever it has received so far."""
    record, wire = run.record, run.head.route.wire
    if record.status == "ok":
        record.failed(error)
    if not client.gone:
        run.write_row()
    body = write_error(wire, error, record.request_id)
    headers: list[Header] = [JSON_HEADER]
    if error.retry_after is not None:
        # RFC 9110, section 10.2.3: whole seconds; zero would make clients retry at once.
        headers.append((b"retry-after", str(max(1, ceil(error.retry_after))).encode()))
    try:
        await client.settle()
        # The status is out already, so only an event of the stream can tell of the error.
        if client.opened:
            await client.end(wire.late_error(body))
        else:
            await client.answer(error.status, body, tuple(headers))
    except (ClientGone, asyncio.CancelledError):
        record.status = "client_gone"
