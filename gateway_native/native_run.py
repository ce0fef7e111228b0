"""One native call as a request run: what it names, what it may, and what is sent.

It goes the way of every other request: the same checks of the caller, the same limits, accounts,
dispatch, transport and ledger.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    BadRequest,
    Call,
    Credential,
    FormPart,
    GatewayError,
    ServiceExchange,
    Target,
    TransportError,
    UpstreamError,
)
from gateway_core.contracts.asgi import Header
from gateway_core.contracts.errors import (
    AllAccountsCooling,
    Forbidden,
    NoCredentials,
    Unavailable,
    UnsupportedMedia,
)
from gateway_core.identity.credentials import check_key
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.form_body import is_form
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.request_head import RequestHead
from gateway_core.pipeline.request_run import SHOWN_PIN, RequestRun
from gateway_core.routing.access_policy import check_further
from gateway_core.routing.account_selection import PIN
from gateway_core.routing.model_resolver import MAX_NAME
from gateway_core.routing.plan import Member, Plan
from gateway_formats.json_text import JsonText

from .exchange import FAILED, NATIVE, NativeExchange, write_request
from .model_identity import permit_native
from .named_models import MISSING, NamedModels, read_models
from .native_request import ID, NativeRequest
from .ownership import Ownership
from .reported_usage import usage_edits
from .resources import ResourceName

UNAVAILABLE = "Provider account unavailable"
NO_PIN = "x-connection-id is required for account-bound operation"
NO_RESOURCE = "Missing native resource ID"
NO_SESSIONS = "Usage-capped API keys cannot mint direct native sessions"
NO_BACKGROUND = "Usage-capped API keys cannot delegate native background or batch inference"
_encode = msgspec.json.Encoder().encode


class NativeRun(RequestRun):
    """A request of the native facade."""

    target: Target
    """The model that it is for."""
    pin: str | None = None
    """The account that it names."""
    resource: ResourceName | None = None
    """What it is about, of what the vendor keeps."""
    is_background = False
    """The vendor goes on working after its answer."""
    _has_body = False
    """The body was taken whole, and its parts are being read."""
    _text: JsonText | None = None

    def __init__(self, core: Collaborators, head: RequestHead, request: NativeRequest) -> None:
        super().__init__(core, head)
        self.native, self.operation = request, request.operation
        self.checkpoints = self.ownership = Ownership(self)

    def read(
        self,
        body: bytes,
        members: Mapping[str, Raw] | None = None,
        form: tuple[FormPart, ...] = (),
    ) -> None:
        """Read and check everything that needs no database. Raises GatewayError."""
        self._has_body = True
        text = self._text = JsonText(body) if members is None else None
        check_key(self.head.caller, required=self.snapshot.settings.require_api_key)
        value = {} if text is None else text.value
        models = read_models(self.snapshot, self.native, text, members or {})
        self._permit(models)
        self.is_background = value.get("background") not in (None, False)
        self._permit_delegation()
        if self.operation.check is not None:
            self.operation.check(value)
        self.pin = self._pinned()
        self.resource = self._resource(value)
        if text is not None:
            body = text.edited([*models.edits, *self._usage_edits(text)])
            members = members_of(body)
        is_stream = value.get("stream") is True or "true" in self.native.values("stream")
        self.record.stream = is_stream
        self.use(
            Call(
                kind=NATIVE,
                format=NATIVE,
                model=self.record.model,
                stream=is_stream,
                body=body,
                members=members or {},
                headers=self.head.headers,
                path=self.native.parameters,
                form=form,
            )
        )
        self._sent = self.call.members

    def plan(self) -> Plan:
        """The model, at the account that is pinned or at any."""
        name = self.record.model
        members = (Member(self.target, name, pinned=self.pin),)
        check_further(self.snapshot, self.record.key, members, self.call.members)
        is_final = self.operation.creates is not None or self.operation.pinned
        return Plan(members=members, name=name, is_final=is_final)

    def open_service(self, target: Target, credential: Credential) -> ServiceExchange:
        call, operation = self.call, self.operation
        if self._text is not None and call.members != self._sent:  # An interceptor's doing.
            call = msgspec.structs.replace(call, body=_encode(call.members))
        wire = self.snapshot.registry.formats[operation.format or target.provider.format]
        request = write_request(call, self.native, target, credential, wire)
        body = None if self._text is None else self._text.value
        exchange = NativeExchange(request, operation, credential, body)
        if self.is_background:
            exchange.is_charged = False  # The poll that sees the work complete is charged.
        return exchange

    @property
    def exchange(self) -> NativeExchange:
        """Of the attempt that answers."""
        exchange = self.attempt.exchange
        assert isinstance(exchange, NativeExchange)
        return exchange

    def response_headers(self) -> tuple[Header, ...]:
        response, headers = self.attempt.response, super().response_headers()
        if response is None:
            return headers
        self.status = self.record.http_status = response.status
        if disposition := response.headers.get("content-disposition"):
            headers += ((b"content-disposition", disposition.encode("latin-1", "replace")),)
        return headers

    def worded(self, error: GatewayError) -> GatewayError:
        """Some refusals have words of their own here."""
        is_bad = isinstance(error, BadRequest | UnsupportedMedia)
        if is_bad and not self._has_body and self._takes_form:
            return BadRequest("Invalid multipart body")
        if isinstance(error, NoCredentials):
            return Unavailable(UNAVAILABLE)
        if isinstance(error, AllAccountsCooling) and self.pin is not None:
            return Unavailable(UNAVAILABLE, retry_after=error.retry_after)
        if isinstance(error, TransportError) and error.status == 502:
            return UpstreamError(FAILED)
        return error

    @property
    def _takes_form(self) -> bool:
        return self.operation.body == "form" or is_form(self.head.headers)

    def _permit(self, models: NamedModels) -> None:
        """Check what the caller may use. Raises Forbidden, BadRequest."""
        identity, key = models.identity(), self.record.key
        self.target, self.record.model = identity.target, identity.requested[:MAX_NAME]
        for each in models.all:
            permit_native(self.snapshot, self.core.prices, key, each.target, each.requested)
        # A vendor opens a session that names no model with one of its own choice.
        is_narrowed = key is not None and key.policy.has_rules
        if self.operation.direct and is_narrowed and not models.is_in_body:
            raise BadRequest(MISSING, param="model")

    def _permit_delegation(self) -> None:
        """Refuse a key with a limit what nobody can count. Raises Forbidden."""
        key, in_common = self.record.key, self.core.state.group_limits
        is_in_group = key is not None and in_common is not None and in_common.covers(key)
        if key is None or not (key.has_limits or is_in_group):
            return
        if self.operation.direct:
            raise Forbidden(NO_SESSIONS)
        if self.operation.uncapped_only or self.is_background:
            raise Forbidden(NO_BACKGROUND)

    def _pinned(self) -> str | None:
        """The account that the call names. Raises BadRequest, Forbidden, Unavailable."""
        pin = self.head.headers.get(PIN) or self.head.headers.get(SHOWN_PIN)
        if not pin:
            if self.operation.pinned:
                raise BadRequest(NO_PIN)
            return None
        key = self.record.key
        if key is not None and key.connections and pin not in key.connections:
            raise Forbidden("Forbidden")
        accounts = self.snapshot.accounts.get(self.native.provider.id, ())
        if all(account.id != pin for account in accounts):
            raise Unavailable(UNAVAILABLE)
        return pin

    def _resource(self, body: Mapping[str, Any]) -> ResourceName | None:
        """What the call is about. Raises BadRequest."""
        uses = self.operation.uses
        if uses is None or self.pin is None:
            return None
        where, _, name = uses.place.partition(".")
        if where == "path":
            found: list[Any] = [self.native.parameters[name]]
        else:
            found = self.native.values(name) if where == "query" else [body.get(name)]
        # Of two ids the vendor could take the other one.
        if len(found) != 1 or not isinstance(found[0], str) or not ID.fullmatch(found[0]):
            raise BadRequest(NO_RESOURCE)
        return ResourceName(
            provider=self.native.provider.id,
            connection_id=self.pin,
            family=uses.family,
            resource_id=found[0],
        )

    def _usage_edits(self, text: JsonText) -> list[Any]:
        return usage_edits(text) if self.operation.with_usage else []
