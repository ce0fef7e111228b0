"""``GET /api/group-limits``: what groups of keys may use, have used and have reserved."""

from typing import TYPE_CHECKING, cast

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.key_usage import KeySpent, Spending
from gateway_files.operator_route import operator_route

if TYPE_CHECKING:
    from .admission import GroupAdmission
    from .group import Limit

PATH = "/api/group-limits"
MICRO = 1_000_000


class GroupKey(Struct, frozen=True, kw_only=True):
    """A key that is in a group now."""

    id: str
    name: str


class GroupLimit(Struct, frozen=True, kw_only=True, rename="camel"):
    """One limit. Money is in dollars."""

    field: str
    """Its name in the settings."""
    label: str
    money: bool
    used: float
    reserved: float
    """What calls under way may still use."""
    limit: float
    reset_at: str | None
    """UTC ISO text; ``null`` for a limit of the lifetime."""


class GroupUse(Struct, frozen=True, kw_only=True, rename="camel"):
    """One group. Limits by the minute are not among ``limits``."""

    name: str
    reserve: bool
    keys: tuple[GroupKey, ...]
    limits: tuple[GroupLimit, ...]
    calls_reserved: int


class GroupsInUse(Struct, frozen=True, kw_only=True):
    """In the order of the settings."""

    groups: tuple[GroupUse, ...]


def routes(core: Collaborators) -> list[Guarded]:
    """Building them reads nothing from ``core``."""

    async def show(request: Request) -> Response:
        return json_answer(await groups_in_use(core))

    return [operator_route(PATH, show, "show what groups of keys have used", answer=GroupsInUse)]


async def groups_in_use(core: Collaborators) -> GroupsInUse:
    """What each group has used by now. Raises what the database raises."""
    admission = core.state.group_limits
    if admission is None:
        return GroupsInUse(groups=())
    groups = cast("GroupAdmission", admission)
    keys = await core.stores.keys.list()
    shown = []
    for group in groups.groups:
        spent, held = await groups.use_of(group)
        shown.append(
            GroupUse(
                name=group.name,
                reserve=group.reserve,
                keys=tuple(
                    GroupKey(id=key.id, name=key.name)
                    for key in keys
                    if group.has(key.id, key.name)
                ),
                limits=tuple(_limit(core, limit, spent, held) for limit in group.limits),
                calls_reserved=held.requests,
            )
        )
    return GroupsInUse(groups=tuple(shown))


def _limit(core: Collaborators, limit: "Limit", spent: KeySpent, held: Spending) -> GroupLimit:
    window, unit = limit.window, MICRO if limit.window.is_money else 1
    resets = None if limit.span == "ever" else iso(core.limits.resets_at(window.span))
    return GroupLimit(
        field=window.field,
        label=window.label,
        money=window.is_money,
        used=limit.used(spent) / unit,
        reserved=window.used(held) / unit,
        limit=limit.most / unit,
        reset_at=resets,
    )
