"""Whether a request may go the express way, and the asking itself."""

from msgspec import Struct

from ...contracts.exchange import UpstreamRequest
from ...identity.keys import Key
from ...routing.access_policy import check_further
from ...routing.account_selection import PIN
from ...routing.plan import Member
from ...routing.snapshot import Account, ConfigSnapshot
from ...upstream.transport import SentRequest
from ..context import Core
from ..pipeline import call_of, permitted, planned
from ..request_head import RequestHead
from ..translation import Translation
from .attempt import Asked


class Only(Struct, frozen=True):
    """The one place where a key's calls of a model go, if there is but one."""

    key: Key | None
    found: tuple[Member, Account] | None


def is_plain(core: Core, arrival: RequestHead, body: bytes) -> bool:
    """Whether nothing about a request calls for more, as far as can be told without reading it."""
    if core.is_full or core.is_stopping or core.interceptors.active or core.request_log.is_on:
        return False
    if arrival.route.endpoint.counting is not None:
        return False
    if len(body) > core.max_body or "content-encoding" in arrival.headers:
        return False
    return arrival.is_json


def asked(core: Core, arrival: RequestHead, body: bytes) -> Asked | None:
    """Send the request, if there is but one place to send it to. Raises whatever its parts do."""
    snapshot = core.snapshot
    call = call_of(snapshot, arrival, body)
    question = Translation(call, snapshot.registry.formats, core.clock(), snapshot.ways)
    found = _only(core, snapshot, question, arrival.key)
    if found is None:
        return None
    member, credential = found[0], found[1].credential
    exchange = question.open(member.target, credential)
    core.egress_policy.check(member.target.provider, credential, exchange.request)
    sent = _sent(core, arrival.key, exchange.request)
    return None if sent is None else Asked(arrival, snapshot, question, *found, exchange, sent)


def _sent(core: Core, key: Key | None, request: UpstreamRequest) -> SentRequest | None:
    """Send, and count it where a key has limits; ``None`` when neither was done.

    Raises LimitExceeded, TransportError.
    """
    if key is None or not key.has_limits:
        return core.network.direct.begin(request)
    if not core.limits.admit_now(key):
        return None
    sent = None
    try:
        sent = core.network.direct.begin(request)
    finally:
        if sent is None:
            core.limits.withdraw(key)
    return sent


def _only(
    core: Core, snapshot: ConfigSnapshot, question: Translation, key: Key | None
) -> tuple[Member, Account] | None:
    """Member and account, where there is no choice to make. Raises as the plan's parts do."""
    call = question.call
    if PIN in call.headers:
        return None
    known = ("only", call.format, call.kind, call.model, None if key is None else key.id)
    held: Only | None = snapshot.memory.get(known)
    # A key that was changed is another value with the same id.
    if held is None or held.key is not key:
        held = Only(key, _alone(core, snapshot, question, key))
        snapshot.remember(known, held)
    elif key is not None:
        check_further(key, call.members)
    if held.found is None:
        return None
    member, its = held.found
    return None if core.cooldowns.find(its.id, member.target.model.id) else held.found


def _alone(
    core: Core, snapshot: ConfigSnapshot, question: Translation, key: Key | None
) -> tuple[Member, Account] | None:
    """What stands in the way but an account's rest. Raises as the plan's parts do."""
    plan = planned(core, snapshot, question)
    if plan.combo is not None or len(plan.members) > 1 or (key is not None and key.connections):
        return None
    if key is not None:
        plan = permitted(snapshot, key, plan, question.call)
    member = plan.members[0]
    provider = member.target.provider
    accounts = snapshot.accounts.get(provider.id, ())
    if not accounts or core.round_robin.rotate(provider.id, accounts, snapshot.settings):
        return None
    if provider.executor is not None or accounts[0].proxy is not None:
        return None
    return member, accounts[0]
