"""A minimal chat request to a model, through the same pipeline as every call."""

from collections.abc import Mapping, Sequence

import msgspec

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import Call
from gateway_core.contracts.wire import WireFormat
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.dispatch import Job, dispatch
from gateway_core.pipeline.interceptors import ConversationReader
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_core.routing.account_selection import AccountConstraints, RoundRobin
from gateway_core.routing.cooldowns import Cooldowns
from gateway_core.routing.plan import Member
from gateway_core.routing.snapshot import Account, ConfigSnapshot

CHAT = "/v1/chat/completions"
"""The endpoint whose format is preferred, because the body is written in it."""
ANY_ACCOUNT = AccountConstraints()


def build_minimal_call(formats: Mapping[str, WireFormat], model: str) -> Translation:
    """Build the shortest chat call, in the first client format that can read it.

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
        translation = Translation(call, formats)
        if wire.client is not None and _is_understood(translation):
            return translation
    raise Unavailable("No installed wire format can write a test request")


def _is_understood(translation: Translation) -> bool:
    try:
        translation.conversation()
    except GatewayError:
        return False
    return True


async def intercept(core: Collaborators, translation: Translation) -> Translation:
    """Apply the interceptors. Raises GatewayError when one refuses the call."""
    if not core.interceptors.active:
        return translation
    formats = translation.formats
    call = msgspec.structs.replace(translation.call, reader=ConversationReader(formats))
    return Translation(await core.interceptors.before(call), formats)


async def call_members(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    translation: Translation,
    members: Sequence[Member],
    record: RequestRecord,
    *,
    constraints: AccountConstraints = ANY_ACCOUNT,
    timeout: float | None = None,
) -> None:
    """Send the call to these members in turn. Raises GatewayError when none answers."""
    record.format = translation.client.id
    job = Job(opener=translation.open, stream=False, constraints=constraints, timeout=timeout)
    answer = await dispatch(core, snapshot, members, job, record)
    record.upstream_format = answer.exchange.upstream_format
    record.add_usage(answer.exchange.usage)


async def call_account(
    core: Collaborators, account: Account, member: Member, record: RequestRecord
) -> None:
    """Send the call to exactly this account, also in cooldown. Raises GatewayError.

    Its cooldowns and rotation are its own, so real calls are not affected.
    """
    isolated = msgspec.structs.replace(
        core, cooldowns=Cooldowns(core.environment, core.clock), round_robin=RoundRobin()
    )
    accounts = {member.target.provider.id: (account,)}
    snapshot = msgspec.structs.replace(core.snapshot, accounts=accounts)
    translation = build_minimal_call(snapshot.registry.formats, record.model)
    await call_members(isolated, snapshot, translation, (member,), record)
