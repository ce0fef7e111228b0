"""Counting tokens: by the vendor where it can, else by a heuristic. Never limited."""

from ..contracts.errors import GatewayError, UpstreamError
from ..contracts.provider import Target
from ..contracts.wire import Counting
from ..metering.request_record import RequestRecord
from ..routing.access_policy import ModelForbidden, permit_model
from ..routing.account_selection import AccountConstraints, eligible
from ..routing.model_resolver import resolve
from ..routing.snapshot import Account, ConfigSnapshot
from ..upstream.endpoints import request, spoken
from ..upstream.transport import read_all
from .context import Collaborators
from .json_body import fitted, with_model
from .send import broken, send
from .translation import Translation

ANSWER_LIMIT = 1024 * 1024


async def count_tokens(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    counting: Counting,
    translation: Translation,
    record: RequestRecord,
) -> bytes:
    """The vendor's own count as the client's format writes it, or an estimate without one."""
    if translation.call.conversation is not None:  # The body is not to leave as it is.
        return counting.estimate(translation.call.body)
    body = await _native(core, snapshot, counting, translation, record)
    return counting.estimate(translation.call.body) if body is None else body


async def _native(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    counting: Counting,
    translation: Translation,
    record: RequestRecord,
) -> bytes | None:
    """The vendor's answer; ``None`` when it does not use this format or fails in any way."""
    call, wire = translation.call, translation.client
    try:
        resolved = resolve(snapshot, call.model, call.kind, decorated=wire.decorated_models)
        target = resolved.target
        if target is None:
            return None
        if record.key is not None:
            permit_model(record.key, target, resolved.name)
        if spoken(wire, target, translation.formats) is not wire:
            return None
        scope = frozenset[str]() if record.key is None else record.key.connections
        accounts = eligible(
            snapshot.accounts.get(target.provider.id, ()), AccountConstraints(scope=scope)
        )
        if not accounts:
            return None
        record.target, record.connection_id = target, accounts[0].id
        return await _ask_vendor(core, counting, translation, target, accounts[0])
    except ModelForbidden:
        raise
    except GatewayError:
        return None


async def _ask_vendor(
    core: Collaborators,
    counting: Counting,
    translation: Translation,
    target: Target,
    account: Account,
) -> bytes | None:
    call, wire = translation.call, translation.client
    try:
        members = dict(call.members)
        if wire.model_in_body:
            with_model(members, target.model.id)
        body, path = fitted(members, target), counting.path(target.model.id)
        outgoing = request(call, target, account.credential, wire, body, path)
    except GatewayError:
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise broken(core, target.provider, account, error) from None
    response = await send(core, target.provider, account, outgoing)
    try:
        return await read_all(response, ANSWER_LIMIT) if response.status == 200 else None
    except UpstreamError:
        return None
    finally:
        await response.aclose()
