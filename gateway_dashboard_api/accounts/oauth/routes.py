"""Logins by OAuth: ``/api/oauth/{provider}/{action}`` (A.9, P.7).

```text
authorize ──authUrl──▶ browser ──▶ vendor ──code, state──▶ exchange ──▶ account
device-code ──user code──▶ a person, anywhere;   poll, poll, poll ──▶ account
```
"""

import hmac
from typing import Any, NoReturn

from msgspec import UNSET
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, NotFound, UpstreamError
from gateway_core.contracts.provider import OAuth, ProviderSpec
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.environment_accounts import ENVIRONMENT, SOURCE
from gateway_core.routing.snapshot import account_of
from gateway_core.storage.stores.connection import (
    Connection,
    ConnectionChange,
    DuplicateConnection,
    NewConnection,
)

from ...admin_context import AdminContext
from ...answers import Success
from ...destinations import permit_all
from ...endpoint import endpoint
from ...login.cookies import registered_origin
from ...requests import read_json, read_query
from ...tickets import Tickets
from ..bodies import NewConnectionBody
from ..changes import build_connection, read_provider_data
from ..owners import owner_of
from ..routes import connection_of
from ..views import connection_row_for
from .bodies import (
    AuthorizeAnswer,
    AuthorizeQuery,
    CancelBody,
    DeviceAnswer,
    ExchangeBody,
    LoginAnswer,
    LoginMeta,
    PollBody,
    RevokeAnswer,
    RevokeBody,
)
from .journeys import BROWSER, DEVICE, TICKET_BYTES, BrowserLogin, DeviceLogin
from .protocol import (
    HINTS,
    Grant,
    LoginRefused,
    authorization_url,
    check_revoked,
    device_request,
    exchange_request,
    new_verifier,
    poll_request,
    read_device_code,
    read_grant,
    revocation_request,
)
from .renewal import Renewals, ended, token_members
from .token_calls import call

PATH = "/api/oauth/{provider}"
PAGE = "/dashboard/callback"
"""The dashboard's page that a browser comes back to."""
BY_HAND = "http://localhost:8080/callback"
"""Where nothing need listen: a person takes the code from the address bar (P.7)."""
GONE = "There is no such login, or it has ended"
SIGNED_OUT = "signed_out"
_PENDING = ("authorization_pending", "slow_down")
_SLOWER = 5.0
"""Seconds (RFC 8628, section 3.5)."""
_FORGOTTEN = {"lastError": None, "lastErrorAt": None, "errorCode": None, "backoffLevel": None}


def routes(admin: AdminContext) -> list[Guarded]:
    return Logins(admin).routes(admin)


class Logins:
    """The logins under way at all gateways on the database."""

    def __init__(self, admin: AdminContext) -> None:
        core, size = admin.core, TICKET_BYTES
        self._browsers = Tickets(core, BrowserLogin, BROWSER, size=size)
        self._devices = Tickets(core, DeviceLogin, DEVICE, size=size)
        self._renewals = Renewals(core)

    def routes(self, admin: AdminContext) -> list[Guarded]:
        def route(method: str, name: str, handler: Any, purpose: str, **more: Any) -> Guarded:
            path = f"{PATH}/{name}"
            return endpoint(admin, method, path, handler, purpose, access=Access.OPERATOR, **more)

        return [
            route(
                *("GET", "authorize", self.authorize, "begin the login"),
                query=AuthorizeQuery,
                answer=AuthorizeAnswer,
            ),
            route(
                *("POST", "exchange", self.exchange, "finish the login"),
                body=ExchangeBody,
                answer=LoginAnswer,
                example={"code": "the vendor's code", "state": "the state that authorize gave"},
            ),
            route(
                *("GET", "device-code", self.device_code, "begin the login with a code"),
                answer=DeviceAnswer,
            ),
            route(
                *("POST", "poll", self.poll, "finish the login with a code"),
                body=PollBody,
                answer=LoginAnswer,
                example={"deviceCode": "the device_code that device-code gave"},
            ),
            route(
                *("POST", "cancel", self.cancel, "give up the login"),
                body=CancelBody,
                answer=Success,
                example={"state": "the state that authorize gave"},
            ),
            route(
                *("POST", "revoke", self.revoke, "sign the account out"),
                body=RevokeBody,
                answer=RevokeAnswer,
                example={"connectionId": "the account's id"},
            ),
            *(
                route(method, "{action}", unknown_action, "log in", answer=LoginAnswer)
                for method in ("GET", "POST")
            ),
        ]

    async def authorize(self, admin: AdminContext, request: Request) -> Response:
        spec, login = login_of(admin, request)
        if login.flow == "device":
            raise BadRequest("This provider signs in with a code", code="device_login_only")
        own = f"{registered_origin(admin, request)}{PAGE}"
        wanted = read_query(request, AuthorizeQuery).redirect_uri or BY_HAND
        if wanted not in (own, BY_HAND):
            raise BadRequest(f"Invalid redirect_uri: possible are {own} and {BY_HAND}")
        verifier = new_verifier()
        journey = BrowserLogin(provider=spec.id, redirect_uri=wanted, verifier=verifier)
        state = await self._browsers.issue(journey)
        answer = AuthorizeAnswer(
            auth_url=authorization_url(login, wanted, state, verifier),
            state=state,
            code_verifier=verifier,
            redirect_uri=wanted,
        )
        return json_answer(answer)

    async def exchange(self, admin: AdminContext, request: Request) -> Response:
        body = await read_json(request, ExchangeBody)
        spec, login = login_of(admin, request)
        # Whatever comes of it, a state is good once.
        journey = await self._browsers.redeem(body.state)
        if journey is None or journey.provider != spec.id:
            raise NotFound(GONE)
        _require_same(body.redirect_uri, journey.redirect_uri, "redirectUri")
        _require_same(body.code_verifier, journey.verifier, "codeVerifier")
        account = await _Destination.read(admin, request, spec, body.meta)
        wanted = exchange_request(login, body.code, journey.redirect_uri, journey.verifier)
        status, answer = await call(admin.core, spec, wanted, admin.snapshot.proxy)
        shown = (body.code, journey.verifier, login.client_secret or "")
        grant = read_grant(status, answer, login, shown)
        return await self._save(admin, request, account, grant)

    async def device_code(self, admin: AdminContext, request: Request) -> Response:
        spec, login = login_of(admin, request)
        if login.device_url is None:
            raise BadRequest("This provider has no login with a code", code="no_device_login")
        wanted = device_request(login, login.device_url)
        status, answer = await call(admin.core, spec, wanted, admin.snapshot.proxy)
        code = read_device_code(status, answer, (login.client_secret or "",))
        journey = DeviceLogin(
            provider=spec.id,
            device_code=code.device_code,
            expires_at=admin.core.clock() + code.expires_in,
            interval=code.interval,
        )
        shown = DeviceAnswer(
            device_code=await self._devices.issue(journey),
            user_code=code.user_code,
            verification_uri=code.verification_uri,
            verification_uri_complete=code.verification_uri_complete,
            expires_in=code.expires_in,
            interval=code.interval,
        )
        return json_answer(shown)

    async def poll(self, admin: AdminContext, request: Request) -> Response:
        """Ask the vendor, no more often than it allows, whether a person has signed in."""
        body = await read_json(request, PollBody)
        spec, login = login_of(admin, request)
        now, ticket = admin.core.clock(), body.device_code
        journey = await self._devices.find(ticket)
        if journey is None or journey.provider != spec.id or now >= journey.expires_at:
            raise NotFound(GONE)
        if now < journey.asked_at + journey.interval:
            return _still_pending("authorization_pending")
        account = await _Destination.read(admin, request, spec, body.extra_data)
        await self._devices.revise(ticket, lambda each: replace(each, asked_at=now))
        wanted = poll_request(login, journey.device_code)
        status, answer = await call(admin.core, spec, wanted, admin.snapshot.proxy)
        try:
            shown = (journey.device_code, login.client_secret or "")
            grant = read_grant(status, answer, login, shown)
        except LoginRefused as error:
            if error.code not in _PENDING:
                await self._devices.redeem(ticket)
                return json_answer(_refused(error))
            if error.code == "slow_down":
                slower = journey.interval + _SLOWER
                await self._devices.revise(ticket, lambda each: replace(each, interval=slower))
            return _still_pending(error.code)
        if await self._devices.redeem(ticket) is None:
            raise NotFound(GONE)
        return await self._save(admin, request, account, grant)

    async def cancel(self, admin: AdminContext, request: Request) -> Response:
        body = await read_json(request, CancelBody)
        login_of(admin, request)
        ended = (
            body.state and await self._browsers.redeem(body.state),
            body.device_code and await self._devices.redeem(body.device_code),
        )
        if not any(ended):
            raise NotFound(GONE)
        return json_answer(Success())

    async def revoke(self, admin: AdminContext, request: Request) -> Response:
        """Tell the vendor to forget an account's tokens (RFC 7009), and forget them here."""
        spec, login = login_of(admin, request)
        identity = (await read_json(request, RevokeBody)).connection_id
        await admin.audit(request, "oauth.revoke", identity)
        async with self._renewals.leased(identity):
            row = await connection_of(admin, identity)
            if row.provider != spec.id or row.auth_type != "oauth" or row.broken:
                raise BadRequest("The account has no login at this provider")
            is_told = await _tell(admin, spec, login, row)
            change = ended(admin.core.clock(), SIGNED_OUT)
            gone = {**change.data, "accessToken": None, "expiresAt": None}
            async with admin.writing():
                after = await admin.stores.connections.update(identity, replace(change, data=gone))
        shown = connection_row_for(admin, request, after)
        return json_answer(RevokeAnswer(success=True, revoked=is_told, connection=shown))

    async def _save(
        self, admin: AdminContext, request: Request, account: "_Destination", grant: Grant
    ) -> Response:
        await admin.audit(request, "oauth.login", account.target)
        if account.before is None:
            async with admin.writing():
                saved = await admin.stores.connections.create(account.created(admin, grant))
        else:
            # A renewal under way would put tokens of the old login over those of the new one.
            async with self._renewals.leased(account.before.id), admin.writing():
                change = account.changed(admin, grant)
                saved = await admin.stores.connections.update(account.before.id, change)
            admin.core.cooldowns.clear([saved.id], EVERY_MODEL)
        row = {"displayName": saved.name, **connection_row_for(admin, request, saved)}
        return json_answer(LoginAnswer(success=True, connection=row))


async def _tell(admin: AdminContext, spec: ProviderSpec, login: OAuth, row: Connection) -> bool:
    """Whether a vendor was told to forget tokens. Raises UpstreamError where it does not."""
    if login.revoke_url is None:
        return False
    snapshot, tokens = admin.snapshot, row.secrets
    account = account_of(row, snapshot.settings, snapshot.pools, spec=spec, proxy=snapshot.proxy)
    # The refresh token first: with it whoever has it could get another access token.
    for member in ("refreshToken", "accessToken"):
        if isinstance(token := tokens.get(member), str):
            wanted = revocation_request(login, login.revoke_url, token, HINTS[member])
            status, answer = await call(admin.core, spec, wanted, account.proxy)
            check_revoked(status, answer, (token, login.client_secret or ""))
    return True


class _Destination:
    """The account that a login is for, checked before the vendor's code is used up."""

    def __init__(self, new: NewConnection, before: Connection | None) -> None:
        self._new, self.before = new, before

    @classmethod
    async def read(
        cls, admin: AdminContext, request: Request, spec: ProviderSpec, meta: LoginMeta | None
    ) -> "_Destination":
        """Raises BadRequest, NotFound, DuplicateConnection."""
        meta, is_key = meta or LoginMeta(), spec.oauth is not None and spec.oauth.flow == "key"
        owner = await owner_of(admin, spec.id)
        body = NewConnectionBody(
            provider=spec.id,
            name=meta.name.strip() or spec.name,
            api_key="-",  # The grant's secret takes its place.
            provider_specific_data=meta.provider_specific_data or UNSET,
        )
        data = read_provider_data(body, owner, admin.snapshot.pools)
        await permit_all(admin.core.network, owner.own(data))
        before = None
        if meta.connection_id is not None:
            before = await connection_of(admin, meta.connection_id)
            if before.provider != spec.id:
                raise BadRequest("The account belongs to another provider")
            if before.data.get(SOURCE) == ENVIRONMENT:
                raise BadRequest("This account's key comes from an environment variable")
            if data:
                raise BadRequest("The data of an account that is there is changed by itself")
        elif is_key:
            stored = await admin.stores.connections.list(spec.id)
            if any(each.name == body.name and each.auth_type == "apikey" for each in stored):
                raise DuplicateConnection(spec.id, str(body.name))
        return cls(build_connection(body, owner, data), before)

    @property
    def target(self) -> str | None:
        return self._new.name if self.before is None else self.before.id

    def created(self, admin: AdminContext, grant: Grant) -> NewConnection:
        data = {name: value for name, value in self._new.data.items() if name != "apiKey"}
        members = token_members(grant, admin.core.clock())
        members = {name: value for name, value in members.items() if value is not None}
        return replace(
            self._new,
            auth_type="apikey" if grant.is_key else "oauth",
            email=grant.email,
            data={**data, **members},
        )

    def changed(self, admin: AdminContext, grant: Grant) -> ConnectionChange:
        members = dict.fromkeys(("apiKey", "accessToken", "refreshToken", "expiresAt"))
        granted = token_members(grant, admin.core.clock())
        return ConnectionChange(
            auth_type="apikey" if grant.is_key else "oauth",
            email=grant.email or UNSET,
            is_active=True,
            data={**_FORGOTTEN, **members, **granted, "testStatus": "unknown"},
        )


def login_of(admin: AdminContext, request: Request) -> tuple[ProviderSpec, OAuth]:
    """The provider of a path. Raises BadRequest for one without a login."""
    spec = admin.spec(admin.provider_id(request.path_params["provider"]))
    if spec is None or spec.oauth is None:
        raise BadRequest("This provider has no OAuth login", code="no_oauth")
    return spec, spec.oauth


async def unknown_action(admin: AdminContext, request: Request) -> NoReturn:
    raise BadRequest("Unknown action")


def _require_same(given: str | None, kept: str, name: str) -> None:
    """Raises BadRequest when a client names another one than its login began with."""
    if given and not hmac.compare_digest(given.encode(), kept.encode()):
        raise BadRequest(f"{name} is not that of this login")


def _still_pending(code: str) -> Response:
    return json_answer(LoginAnswer(success=False, pending=True, error=code))


def _refused(error: UpstreamError) -> LoginAnswer:
    description = getattr(error, "description", "") or error.message
    return LoginAnswer(
        success=False, pending=False, error=error.code, error_description=description
    )
