"""One inference request as a state machine: what is known of it, and what may happen next.

```text
created ── read ── plan ── admitted ──▶ sent ──▶ answering ──▶ closed ──▶ finished
                                          │           │
                            on_error ─────┴───────────┴── on_client_gone
```

It never awaits. Two drivers call it: the asyncio pipeline (``pipeline.py``), which may wait
for anything, and the fast path (``fast_path/``), which runs in the callbacks of the two
sockets and hands the run over to the pipeline as it is when it would have to wait. Each rule
of a request's life stands here or in ``Attempt``, once for both.
"""

import logging
from collections.abc import Awaitable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from msgspec import Raw
from msgspec.structs import replace

from ..contracts.asgi import Header
from ..contracts.errors import EmptyCombo, GatewayError, UpstreamError
from ..contracts.exchange import ServiceExchange, UpstreamResponse
from ..contracts.kinds import Kind
from ..contracts.provider import Call, Credential, FormPart, Target
from ..contracts.wire import KeepAlive
from ..identity.credentials import check_key
from ..metering.accounting import account
from ..metering.request_record import RequestRecord
from ..routing.access_policy import (
    check_further,
    must_be_priced,
    narrowed,
    permit_combo,
    priced,
)
from ..routing.account_selection import PIN, AccountConstraints, session_of
from ..routing.model_resolver import MAX_NAME
from ..routing.plan import Plan, build_plan
from ..routing.service_plan import build_service_plan, plan_for_account
from ..storage.stores.usage import Status
from ..upstream.redaction import secrets_of
from ..upstream.response_headers import passed_on
from ..upstream.transport import SentRequest
from .attempt import Attempt, record_failure
from .context import Collaborators
from .exchanges import encode_losses
from .form_body import Form
from .json_body import members_of
from .request_head import RequestHead
from .translation import Translation, open_service

if TYPE_CHECKING:
    from .filtering import RunFiltering

log = logging.getLogger(__name__)

SHOWN_PIN = "x-gateway-connection-id"
"""Names the account that has answered; accepted in the place of ``PIN`` too."""


class Checkpoints(Protocol):
    """Work of a request that has to wait, such as what is stored of it. Each may raise
    GatewayError, which refuses the request."""

    async def before_plan(self) -> None:
        """The request was read; nothing is counted or sent yet."""
        ...

    async def before_answer(self) -> None:
        """A vendor has begun to answer; its client has nothing yet."""
        ...

    async def before_end(self) -> None:
        """The answer was read to its end, which its client has not yet."""
        ...


class RequestRun:
    """A request on its way from its head to its row in the ledger."""

    # Most requests leave these as they are, so nothing is spent on setting them.
    call: Call
    translation: Translation
    attempt: Attempt
    """The one that answers, or the first one while the fast path waits for its response."""
    sent: SentRequest | None = None
    """The first attempt's request, where the fast path has sent it."""
    is_answering = False
    """``attempt`` has started to answer: nobody else is asked any more."""
    is_open = False
    """The client has the head of a stream."""
    is_late = False
    """The client has waited so long that it is due a sign of life."""
    error: BaseException | None = None
    """What stopped ``attempt`` on the fast path; for the pipeline to deal with."""
    reserved = 0.0
    """Memory for the body, bytes; see ``BodyMemory``."""
    ending = b""
    """Output that is held back until it can leave with the end."""
    urls: tuple[str, ...] = ()
    """Addresses from the request that a vendor is to fetch."""
    form: Form | None = None
    """The client's form, whose files are removed at the end."""
    checkpoints: Checkpoints | None = None
    filtering: "RunFiltering | None" = None
    """The filters of its answer, where there are some."""
    status = 200
    """Of an answer that is not streamed."""

    def __init__(self, core: Collaborators, head: RequestHead) -> None:
        self.core, self.head = core, head
        # The run keeps this configuration to its end, whatever is changed meanwhile.
        self.snapshot = core.state.snapshot
        self.record = RequestRecord(
            core.new_id(), head.route.endpoint.path, head.route.wire.id, core.clock(), head.key
        )

    # From the body to a plan.

    def reserve(self, size: int) -> None:
        """Let in a large body of that size. Raises Unavailable, MissingKey, InvalidKey."""
        # Whoever will be refused takes no memory for more than the beginning of a body.
        check_key(self.head.caller, required=self.snapshot.settings.require_api_key)
        self.reserved = self.core.body_memory.grow(self.reserved, size)

    def read(
        self,
        body: bytes,
        members: Mapping[str, Raw] | None = None,
        form: tuple[FormPart, ...] = (),
    ) -> None:
        """Read the body as far as routing needs it. Raises BadRequest, MissingKey, InvalidKey.

        ``members`` are given where the body is no JSON, ``form`` where it was one.
        """
        head = self.head
        if members is None:
            members = members_of(body)
        # Only now, because a body that cannot be read is refused with 400 whoever sent it.
        check_key(head.caller, required=self.snapshot.settings.require_api_key)
        endpoint = head.route.endpoint
        intake = endpoint.read(head.parameters, head.headers, members)
        self.record.model, self.record.stream = intake.model[:MAX_NAME], intake.stream
        call = Call(
            kind=endpoint.kind,
            format=head.route.wire.id,
            model=intake.model,
            stream=intake.stream,
            body=body,
            members=members,
            headers=head.headers,
            path=head.parameters,
        )
        if endpoint.kind != Kind.LLM:
            call.action, call.form = endpoint.action, form
            if endpoint.defaults:
                call.members = {**endpoint.defaults, **members}
            self.urls = intake.urls
        self.use(call)

    def worded(self, error: GatewayError) -> GatewayError:
        """A refusal as its client is to get it."""
        return error

    def use(self, call: Call) -> None:
        """Serve this call; an interceptor may have changed it."""
        snapshot = self.snapshot
        self.call = call
        self.translation = Translation(
            call, snapshot.registry.formats, self.record.started_at, snapshot.ways
        )

    def plan(self) -> Plan:
        """The members that this caller may use, in order. Raises as its parts do."""
        call, key = self.call, self.record.key
        timeout_ms = self.core.environment.combo_model_timeout_ms
        if call.kind == Kind.LLM:
            is_decorated = self.translation.client.decorated_models
            try:
                plan = build_plan(
                    self.snapshot, call.model, call.kind, timeout_ms, decorated=is_decorated
                )
            except EmptyCombo as error:
                # Whether a combo that the key may not call has members is not its caller's matter.
                if key is not None:
                    permit_combo(key, error.combo)
                raise
        elif (endpoint := self.head.route.endpoint).chosen_by == "account":
            scope = frozenset[str]() if key is None else key.connections
            pinned = call.headers.get(PIN) or call.headers.get(SHOWN_PIN)
            plan = plan_for_account(self.snapshot, endpoint, pinned, scope)
        else:
            plan = build_service_plan(self.snapshot, endpoint, call.model, timeout_ms)
        # Noted before the key is checked, so that a refusal is booked on the combo it was for.
        if plan.combo is not None:
            self.record.combo_id, self.record.combo_name = plan.combo.id, plan.combo.name
        check_further(self.snapshot, key, plan.members, call.members)
        if key is None:
            return plan
        plan = narrowed(self.snapshot, key, plan)
        if must_be_priced(self.snapshot, key):
            plan = priced(self.snapshot, self.core.prices, plan, call.model)
        return plan

    def constraints(self, plan: Plan) -> AccountConstraints:
        """Which accounts may be asked."""
        key = self.record.key
        allowed = frozenset(plan.combo.allowed_connection_ids if plan.combo else ())
        scope = frozenset[str]() if key is None else key.connections
        return AccountConstraints(self.call.headers.get(PIN), allowed, scope, session_of(self.call))

    def open_service(self, target: Target, credential: Credential) -> ServiceExchange:
        """The exchange of a call that is no chat, in the shape of answer that the client wants."""
        endpoint, exchange = self.head.route.endpoint, open_service(self.call, target, credential)
        if endpoint.fallback == "never":
            own = {name: h for name in endpoint.forward if (h := self.call.headers.get(name))}
            headers = {**own, **exchange.request.headers}
            exchange.request = replace(exchange.request, headers=headers, once=True)
        return exchange if endpoint.answer is None else endpoint.answer(self.call, target, exchange)

    def response_head(self) -> Awaitable[UpstreamResponse]:
        """The response of the first attempt; its head may have arrived. Raises TransportError,
        and what stopped the attempt."""
        sent, self.sent = self.sent, None
        if sent is None:
            raise GatewayError("No request was sent")
        if self.error is not None:
            error, self.error = self.error, None
            return _failed(sent.answer, error)
        return self.core.network.direct.finish(sent)

    # An answer.

    def on_answer(self, attempt: Attempt) -> None:
        """This attempt has started to answer."""
        self.attempt, self.is_answering = attempt, True
        if self.record.first_byte is None:
            self.record.first_byte = monotonic()

    def response_headers(self) -> tuple[Header, ...]:
        """Media type, the vendor's rate limits and request id, and what could not be carried."""
        attempt = self.attempt
        exchange = attempt.exchange
        headers = [(b"content-type", exchange.media_type.encode())]
        if attempt.response is not None:
            headers += passed_on(attempt.response)
        if exchange.losses.names:
            headers.append((b"x-gateway-dropped", encode_losses(exchange.losses.names)))
        return tuple(headers)

    def account_headers(self) -> tuple[Header, ...]:
        """The account that has answered, for calls that follow it."""
        name = SHOWN_PIN.encode()
        # Fetch, section 3.3.6: a script of another origin sees it only where it is exposed.
        exposed = (b"access-control-expose-headers", name)
        return (name, self.attempt.account.id.encode()), exposed

    def late_losses(self) -> bytes:
        """What could not be carried, for a stream whose head went out before that was known."""
        names, trailer = self.attempt.exchange.losses.names, self.head.route.wire.trailer
        return trailer(encode_losses(names)) if names and trailer is not None else b""

    def on_chunk(self, chunk: bytes) -> None:
        """More of a stream; an empty chunk is its end."""
        attempt = self.attempt
        if chunk:
            attempt.pending += attempt.exchange.feed(chunk)
        else:
            attempt.pending += attempt.exchange.close()
            attempt.is_complete = True

    def on_error(self, error: UpstreamError) -> None:
        """The stream broke off."""
        # The error frame of the client's format: an end without one would look complete.
        self.attempt.pending += self.attempt.exchange.fail(error)
        self.record.failed(error, "upstream_cut")

    @property
    def keep_alive(self) -> KeepAlive | None:
        """What this client is sent into a silence, if anything."""
        keep_alive, headers = self.head.route.wire.keep_alive, self.head.headers
        if self.call.kind is not Kind.LLM:
            return None  # Its answers have frames of their own, or none.
        if keep_alive is None or keep_alive.spares is None:
            return keep_alive
        name, beginning = keep_alive.spares
        return None if headers.get(name, "").startswith(beginning) else keep_alive

    @property
    def is_streaming(self) -> bool:
        """There is more of the stream to read."""
        attempt = self.attempt
        return not attempt.is_complete and attempt.exchange.failure is None

    def take_output(self) -> bytes:
        """What the client may have now. The last piece leaves with the end, after ``close``."""
        attempt = self.attempt
        output, attempt.pending = attempt.pending, b""
        if attempt.is_read:
            self.ending += output
            return b""
        if attempt.exchange.ended:
            self.close()
        return output

    def close(self) -> None:
        """The answer has ended, and its client is about to see that: the row is recorded first.

        So a row that a client could know of outlives the process, and the next call of a key
        finds this one counted. Does nothing the second time.
        """
        attempt, record = self.attempt, self.record
        failure = attempt.exchange.failure
        if failure is not None and not record.is_recorded:
            if record.status == "ok":
                status: Status = "upstream_cut" if attempt.is_complete else "error"
                record.failed(failure, status, secrets_of(attempt.account.credential))
            # The client has bytes already, so nobody else is asked; the account rests all the same.
            record_failure(self.core, self.snapshot, attempt.member, attempt.account, failure)
        self.write_row()

    # The end.

    def on_client_gone(self) -> None:
        """The client has left before it had all of its answer."""
        self.record.status, self.record.http_status = "client_gone", 499

    def finish(self) -> None:
        """The request is over, whatever became of it: one row in the ledger."""
        core, record = self.core, self.record
        if not record.is_recorded:
            self.write_row()
        if self.is_answering and self.attempt.gate is not None:
            self.attempt.leave()
        if self.form is not None:
            self.form.close()
        core.in_flight.end(record)
        if record.detail is not None:
            core.request_log.end(record, record.detail)

    def write_row(self) -> None:
        """Note what the answer used, and put the row into the ledger, once."""
        record = self.record
        if record.is_recorded:
            return
        if self.is_answering:
            exchange = self.attempt.exchange
            # What follows the frame that ends a stream adds nothing.
            is_over = self.attempt.is_complete or exchange.ended
            try:
                account(self.call, exchange, record, is_over=is_over)
            except BaseException:  # The exchange may be a plugin's.
                log.exception("request %s failed", record.request_id)
                record.failed(GatewayError("Request failed"))
        record.over = monotonic()
        self.core.ledger.record(record)


async def _failed(response: UpstreamResponse, error: BaseException) -> UpstreamResponse:
    """A first attempt that was stopped. Raises ``error``."""
    await response.aclose()
    raise error
