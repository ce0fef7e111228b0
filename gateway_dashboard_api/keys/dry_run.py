"""Whether a key may make a call now, and if not, why: nothing is sent, counted or booked.

The rules are not repeated here. A request run (``pipeline/request_run.py``) plans the call twice,
for nobody in particular and for the key; what the second plan lacks is what the key may not call.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, GatewayError, NotFound
from gateway_core.contracts.provider import Call
from gateway_core.http.endpoints import Endpoints, Found
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import check_key
from gateway_core.identity.keys import Key
from gateway_core.identity.peers import Peer
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.dispatch import Refusals
from gateway_core.pipeline.request_head import read_request_head
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.routing.account_selection import AccountConstraints, eligible
from gateway_core.routing.plan import Member, Plan

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_query

PATH = "/api/keys/{id}/check"
Step = Literal["key", "model", "policy", "limits", "accounts"]


class CheckQuery(Struct, frozen=True, kw_only=True):
    """The call: a model, as a client would name it, and the path of a client endpoint."""

    model: Annotated[str, Meta(max_length=256)] = ""
    """Empty for a call that names none."""
    endpoint: Annotated[str, Meta(max_length=256)] = "/v1/chat/completions"


class CheckedMember(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that the call may be sent to; those of a combo in saved order."""

    name: str
    """As the combo spells it."""
    provider: str
    model: str
    allowed: bool
    """False where the key's rules, or a missing price, keep it out."""
    accounts: int
    """How many accounts the key and the combo leave to it."""
    ready: int
    """How many of them have no cooldown."""


class KeyCheck(Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome. ``status``, ``code`` and ``message`` are what the client would be answered."""

    allowed: bool
    step: Step | None
    """What refuses: the key itself, the model's name, the key's policy, its limits, or the lack of
    an account that can be used now."""
    status: int
    code: str | None
    message: str | None
    retry_after: float | None
    """Seconds after which a limit or a cooldown ends, where that is known."""
    combo: str | None
    members: tuple[CheckedMember, ...]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            check,
            "check what the API key may call",
            query=CheckQuery,
            answer=KeyCheck,
        )
    ]


async def check(admin: AdminContext, request: Request) -> Response:
    parameters = read_query(request, CheckQuery)
    key = admin.core.identity.keys.get(request.path_params["id"])
    if key is None:
        raise NotFound("API key not found")
    found = Endpoints(admin.snapshot.registry.formats.values()).find(parameters.endpoint)
    if found is None:
        raise BadRequest(f"There is no client endpoint {parameters.endpoint}")
    peer = admin.caller(request).peer
    return json_answer(await dry_run(admin.core, key, found, parameters, peer))


async def dry_run(
    core: Collaborators, key: Key, found: Found, parameters: CheckQuery, peer: Peer
) -> KeyCheck:
    """Take the steps of a request until one refuses it."""
    step: Step = "key"
    everything: Plan | None = None
    permitted: Plan | None = None
    constraints = AccountConstraints()
    refusal: GatewayError | None = None
    general: str | None = ""
    try:
        is_good = key.is_good(core.clock())
        caller = Caller(
            peer=peer, key=key if is_good else None, was_refused=not is_good, has_shown=True
        )
        check_key(caller, required=core.snapshot.settings.require_api_key)
        step = "policy"
        try:
            everything = _run(core, found, parameters, Caller(peer=peer, is_cli=True)).plan()
        except GatewayError as error:
            general = error.code  # Nobody could make this call, unless the key hears otherwise.
        run = _run(core, found, parameters, caller)
        permitted = run.plan()
        constraints = run.constraints(permitted)
        step = "limits"
        if key.has_limits:
            await core.limits.check(key)
        if core.state.group_limits is not None:
            await core.state.group_limits.check(key)
        step = "accounts"
        _check_accounts(core, permitted, constraints)
    except GatewayError as error:
        refusal = error
        if step == "policy" and error.code == general:
            step = "model"
    combo = None if everything is None or everything.combo is None else everything.combo.name
    return KeyCheck(
        allowed=refusal is None,
        step=None if refusal is None else step,
        status=200 if refusal is None else refusal.status,
        code=None if refusal is None else refusal.code,
        message=None if refusal is None else refusal.message,
        retry_after=None if refusal is None else refusal.retry_after,
        combo=combo,
        members=tuple(_members(core, everything, permitted, constraints)),
    )


def _run(core: Collaborators, found: Found, parameters: CheckQuery, caller: Caller) -> RequestRun:
    """A run that has read its call."""
    route, in_path = found
    json = {"content-type": "application/json"}
    run = RequestRun(core, read_request_head(route, in_path, parameters.endpoint, caller, json))
    body = msgspec.json.encode({"model": parameters.model})
    members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    model = in_path.get("model", parameters.model)
    run.use(
        Call(
            kind=route.endpoint.kind,
            format=route.wire.id,
            model=model,
            stream=False,
            body=body,
            members=members,
            path=in_path,
            action=route.endpoint.action,
        )
    )
    return run


def _check_accounts(core: Collaborators, plan: Plan, constraints: AccountConstraints) -> None:
    """Raises what a call is answered for which no account can be used."""
    refusals = Refusals(plan.members)
    for member in plan.members:
        accounts = list(_accounts(core, member, constraints))
        if not accounts:
            refusals.unconnected.append(member.target.provider.shown)
        for account in accounts:
            cooldown = core.cooldowns.find(account, member.resting)
            if cooldown is None:
                return
            refusals.cooldowns.append((member.target, cooldown))
    raise refusals.verdict(core.clock())


def _accounts(
    core: Collaborators, member: Member, constraints: AccountConstraints
) -> Iterator[str]:
    if member.pinned is not None:
        constraints = AccountConstraints(pinned=member.pinned, scope=constraints.scope)
    accounts = core.snapshot.accounts.get(member.target.provider.id, ())
    yield from (each.id for each in eligible(accounts, constraints))


def _members(
    core: Collaborators,
    everything: Plan | None,
    permitted: Plan | None,
    constraints: AccountConstraints,
) -> Iterator[CheckedMember]:
    allowed = () if permitted is None else permitted.members
    for member in () if everything is None else everything.members:
        accounts = list(_accounts(core, member, constraints))
        resting = sum(core.cooldowns.find(each, member.resting) is not None for each in accounts)
        yield CheckedMember(
            name=member.name,
            provider=member.target.provider.id,
            model=member.target.model.id,
            allowed=member in allowed,
            accounts=len(accounts),
            ready=len(accounts) - resting,
        )
