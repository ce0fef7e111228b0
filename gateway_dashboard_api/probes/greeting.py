"""Saying "hi" to a model, by the same path that every call takes."""

from collections.abc import Mapping, Sequence

import msgspec

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import Call
from gateway_core.contracts.wire import WireFormat
from gateway_core.metering.request_record import Trace
from gateway_core.pipeline.context import Core
from gateway_core.pipeline.dispatch import Job, dispatch
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Question
from gateway_core.routing.account_selection import Turns, Wanted
from gateway_core.routing.cooldowns import Health
from gateway_core.routing.plan import Member
from gateway_core.routing.snapshot import Account, Tables

CHAT = "/v1/chat/completions"
"""The endpoint whose format is asked first: the words of the greeting are its own."""


NOBODY_IN_PARTICULAR = Wanted()


def greeting(formats: Mapping[str, WireFormat], model: str) -> Question:
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
    for wire in sorted(formats.values(), key=_is_strange):
        call = Call(
            kind=Kind.LLM,
            format=wire.id,
            model=model,
            stream=False,
            body=body,
            members=members_of(body),
        )
        question = Question(call, formats)
        if wire.client is not None and _is_understood(question):
            return question
    raise Unavailable("No wire format is installed that can ask a model for a word")


def _is_strange(wire: WireFormat) -> bool:
    return all(endpoint.path != CHAT for endpoint in wire.endpoints)


def _is_understood(question: Question) -> bool:
    try:
        question.conversation()
    except GatewayError:
        return False
    return True


async def admitted(core: Core, question: Question) -> Question:
    """The question that every interceptor agrees to. Raises GatewayError when one refuses it."""
    if not core.interceptors.active:
        return question
    return Question(await core.interceptors.before(question.call), question.formats)


async def greet(
    core: Core,
    tables: Tables,
    question: Question,
    members: Sequence[Member],
    trace: Trace,
    *,
    wanted: Wanted = NOBODY_IN_PARTICULAR,
    timeout: float | None = None,
) -> None:
    """Let the first of these members answer. Raises GatewayError when none does."""
    trace.format = question.client.id
    job = Job(opener=question.open, stream=False, wanted=wanted, timeout=timeout)
    answer = await dispatch(core, tables, members, job, trace)
    trace.upstream_format = answer.exchange.upstream_format
    trace.add_usage(answer.exchange.usage)


async def greet_account(core: Core, account: Account, member: Member, trace: Trace) -> None:
    """Let exactly this account answer, stored or not, resting or not. Raises GatewayError.

    What is learnt stays here: the account's standing with real calls does not change.
    """
    apart = msgspec.structs.replace(
        core, health=Health(core.environment, core.clock), turns=Turns()
    )
    accounts = {member.target.provider.id: (account,)}
    tables = msgspec.structs.replace(core.tables, accounts=accounts)
    question = greeting(tables.registry.formats, trace.model)
    await greet(apart, tables, question, (member,), trace)
