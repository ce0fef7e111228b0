"""Whether there is only one account that a call can go to."""

from msgspec import Struct

from ...identity.keys import Key
from ...routing.access_policy import check_further
from ...routing.account_selection import PIN
from ...routing.plan import Member
from ...routing.provider_limits import limits_of
from ...routing.snapshot import Account
from ..request_run import RequestRun


class SingleAccount(Struct, frozen=True):
    """What was found for a key's calls of a model; remembered with the configuration."""

    key: Key | None
    choice: tuple[Member, Account] | None
    is_watched: bool
    """It matters which further models the calls name."""


def single_account(run: RequestRun) -> tuple[Member, Account] | None:
    """Member and account, where there is nothing to choose from. Raises as planning does."""
    call, key, snapshot = run.call, run.record.key, run.snapshot
    if PIN in call.headers:
        return None
    name = (
        "single",
        call.format,
        call.kind,
        call.action,
        call.model,
        None if key is None else key.id,
    )
    held: SingleAccount | None = snapshot.memory.get(name)
    # A key that was changed is another value with the same id.
    if held is None or held.key is not key:
        is_bound = key is not None and key.policy.is_bound
        is_watched = is_bound or bool(snapshot.hidden or snapshot.shown)
        held = SingleAccount(key, _find(run), is_watched)
        snapshot.remember(name, held)
    elif held.is_watched and held.choice is not None:
        check_further(snapshot, key, held.choice[:1], call.members)
    if held.choice is None:
        return None
    member, account = held.choice
    is_cooling = run.core.cooldowns.find(account.id, member.target.model.id) is not None
    return None if is_cooling else held.choice


def _find(run: RequestRun) -> tuple[Member, Account] | None:
    """Everything that can stand in the way, but for a cooldown. Raises as planning does."""
    key, snapshot, in_common = run.record.key, run.snapshot, run.core.state.group_limits
    plan = run.plan()
    if in_common is not None and key is not None and in_common.covers(key):
        return None
    if plan.is_route or plan.is_final or plan.timeout is not None:
        return None
    if plan.combo is not None or len(plan.members) > 1 or (key is not None and key.connections):
        return None
    member = plan.members[0]
    provider = member.target.provider
    accounts = snapshot.accounts.get(provider.id, ())
    if not accounts or run.core.round_robin.rotate(provider.id, accounts, snapshot.settings):
        return None
    if provider.executor is not None or accounts[0].proxy is not None or accounts[0].is_login:
        return None
    if any(limits_of(provider, snapshot.settings)):
        return None  # It may have to wait for a place.
    return member, accounts[0]
