"""Saying "hi" to a model, by the same path that every call takes."""

from collections.abc import Mapping, Sequence

import msgspec

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import Call
from gateway_core.contracts.wire import WireFormat
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Core
from gateway_core.pipeline.dispatch import Job, dispatch
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_core.routing.account_selection import AccountConstraints, RoundRobin
from gateway_core.routing.cooldowns import Cooldowns
from gateway_core.routing.plan import Member
from gateway_core.routing.snapshot import Account, ConfigSnapshot

CHAT = "/v1/chat/completions"
"""The endpoint whose format is asked first: the words of the greeting are its own."""
ANY_ACCOUNT = AccountConstraints()


def build_greeting(formats: Mapping[str, WireFormat], model: str) -> Translation:
    """The shortest call there is, in the first client format that understands it.

    Raises Unavailable when none does.
    """
    body = msgspec.json.encode(
        {
            "model": model,
            "messages": [{"role": "user", "content": "hi"}],
            "max_tokens": 1,
            "stream": False,
        }
    )
    preferred = {
        wire.id for wire in formats.values() if any(e.path == CHAT for e in wire.endpoints)
    }
    for wire in sorted(formats.values(), key=lambda wire: wire.id not in preferred):
        call = Call(
            kind=Kind.LLM,
            format=wire.id,
            model=model,
            stream=False,
            body=body,
            members=members_of(body),
        )
        question = Translation(call, formats)
        if wire.client is not None and _is_understood(question):
            return question
    raise Unavailable("No wire format is installed that can ask a model for a word")


def _is_understood(question: Translation) -> bool:
    try:
        question.conversation()
    except GatewayError:
        return False
    return True


async def intercept(core: Core, question: Translation) -> Translation:
    """The question that every interceptor agrees to. Raises GatewayError when one refuses it."""
    if not core.interceptors.active:
        return question
    return Translation(await core.interceptors.before(question.call), question.formats)


async def greet(
    core: Core,
    snapshot: ConfigSnapshot,
    question: Translation,
    members: Sequence[Member],
    trace: RequestRecord,
    *,
    constraints: AccountConstraints = ANY_ACCOUNT,
    timeout: float | None = None,
) -> None:
    """Let the first of these members answer. Raises GatewayError when none does."""
    trace.format = question.client.id
    job = Job(opener=question.open, stream=False, constraints=constraints, timeout=timeout)
    answer = await dispatch(core, snapshot, members, job, trace)
    trace.upstream_format = answer.exchange.upstream_format
    trace.add_usage(answer.exchange.usage)


async def greet_account(core: Core, account: Account, member: Member, trace: RequestRecord) -> None:
    """Let exactly this account answer, stored or not, resting or not. Raises GatewayError.

    What is learnt stays here: the account's standing with real calls does not change.
    """
    isolated = msgspec.structs.replace(
        core, cooldowns=Cooldowns(core.environment, core.clock), round_robin=RoundRobin()
    )
    accounts = {member.target.provider.id: (account,)}
    snapshot = msgspec.structs.replace(core.snapshot, accounts=accounts)
    question = build_greeting(snapshot.registry.formats, trace.model)
    await greet(isolated, snapshot, question, (member,), trace)
