"""Counting tokens: by the vendor where it can, else by a heuristic. Never limited."""

from ..contracts.asgi import Header
from ..contracts.errors import GatewayError, UpstreamError
from ..contracts.exchange import UpstreamRequest
from ..contracts.provider import Credential, Target
from ..contracts.wire import Counting, WireFormat
from ..metering.request_record import Trace
from ..routing.access_policy import ModelForbidden, permit_model
from ..routing.account_selection import Wanted, eligible
from ..routing.model_resolver import resolve
from ..routing.snapshot import Account, Tables
from ..upstream.endpoints import request, spoken
from ..upstream.transport import read_all
from .client_response import Client
from .context import Core
from .json_body import fitted, with_model
from .send import broken, send
from .translation import Question

ANSWER_LIMIT = 1024 * 1024
_JSON: Header = (b"content-type", b"application/json")


async def count_tokens(
    core: Core, tables: Tables, counting: Counting, question: Question, client: Client, trace: Trace
) -> None:
    """Answer with the vendor's own count, or with an estimate when there is none."""
    body = await _native(core, tables, counting, question, trace)
    if body is None:
        body = counting.estimate(question.call.body)
    await client.answer(200, body, (_JSON,))


async def _native(
    core: Core, tables: Tables, counting: Counting, question: Question, trace: Trace
) -> bytes | None:
    """The vendor's answer; ``None`` when it does not speak this format or fails in any way."""
    call = question.call
    try:
        target = resolve(
            tables, call.model, call.kind, decorated=question.client.decorated_models
        ).target
        if target is not None and trace.key is not None:
            permit_model(trace.key, target, call.model)
        if (
            target is None
            or spoken(question.client, target, question.formats) is not question.client
        ):
            return None
        scope = frozenset[str]() if trace.key is None else trace.key.connections
        accounts = eligible(tables.accounts.get(target.provider.id, ()), Wanted(scope=scope))
        if not accounts:
            return None
        trace.target, trace.connection_id = target, accounts[0].id
        return await _asked(core, counting, question, target, accounts[0])
    except ModelForbidden:
        raise
    except GatewayError:
        return None


async def _asked(
    core: Core, counting: Counting, question: Question, target: Target, account: Account
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
    counting: Counting, question: Question, target: Target, credential: Credential, wire: WireFormat
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
