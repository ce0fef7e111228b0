"""Counting tokens: by the vendor where it can, else by a heuristic. Never limited."""

from ..contracts.asgi import Header
from ..contracts.errors import GatewayError, UpstreamError
from ..contracts.exchange import UpstreamRequest
from ..contracts.provider import Credential, Target
from ..contracts.wire import Counting, WireFormat
from ..metering.request_record import RequestRecord
from ..routing.access_policy import ModelForbidden, permit_model
from ..routing.account_selection import AccountConstraints, eligible
from ..routing.model_resolver import resolve
from ..routing.snapshot import Account, ConfigSnapshot
from ..upstream.endpoints import request, spoken
from ..upstream.transport import read_all
from .client_response import ClientResponse
from .context import Core
from .json_body import fitted, with_model
from .send import broken, send
from .translation import Translation

ANSWER_LIMIT = 1024 * 1024
_JSON: Header = (b"content-type", b"application/json")


async def count_tokens(
    core: Core,
    snapshot: ConfigSnapshot,
    counting: Counting,
    question: Translation,
    client: ClientResponse,
    record: RequestRecord,
) -> None:
    """Answer with the vendor's own count, or with an estimate when there is none."""
    body = await _native(core, snapshot, counting, question, record)
    if body is None:
        body = counting.estimate(question.call.body)
    await client.answer(200, body, (_JSON,))


async def _native(
    core: Core,
    snapshot: ConfigSnapshot,
    counting: Counting,
    question: Translation,
    record: RequestRecord,
) -> bytes | None:
    """The vendor's answer; ``None`` when it does not speak this format or fails in any way."""
    call = question.call
    try:
        target = resolve(
            snapshot, call.model, call.kind, decorated=question.client.decorated_models
        ).target
        if target is not None and record.key is not None:
            permit_model(record.key, target, call.model)
        if (
            target is None
            or spoken(question.client, target, question.formats) is not question.client
        ):
            return None
        scope = frozenset[str]() if record.key is None else record.key.connections
        accounts = eligible(
            snapshot.accounts.get(target.provider.id, ()), AccountConstraints(scope=scope)
        )
        if not accounts:
            return None
        record.target, record.connection_id = target, accounts[0].id
        return await _asked(core, counting, question, target, accounts[0])
    except ModelForbidden:
        raise
    except GatewayError:
        return None


async def _asked(
    core: Core, counting: Counting, question: Translation, target: Target, account: Account
) -> bytes | None:
    try:
        asked = _request(counting, question, target, account.credential, question.client)
    except GatewayError:
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise broken(core, target.provider, account, error) from None
    response = await send(core, target.provider, account, asked)
    try:
        if response.status != 200:
            return None
        return await read_all(response, ANSWER_LIMIT)
    except UpstreamError:
        return None
    finally:
        await response.aclose()


def _request(
    counting: Counting,
    question: Translation,
    target: Target,
    credential: Credential,
    wire: WireFormat,
) -> UpstreamRequest:
    members = dict(question.call.members)
    if wire.model_in_body:
        with_model(members, target.model.id)
    return request(
        question.call,
        target,
        credential,
        wire,
        fitted(members, target),
        counting.path(target.model.id),
    )
