"""Lets calls of keys in groups in, or refuses them with the group's name."""

from collections.abc import Mapping

from gateway_core.contracts.errors import Forbidden, LimitExceeded
from gateway_core.identity.keys import Key
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.routing.plan import Plan
from gateway_core.storage.stores.key_usage import NOTHING, KeySpent, Spending

from .greatest import CODE, greatest
from .group import Group
from .reservations import Reservations
from .settings import Settings
from .tally import Tally

MOST_REMEMBERED = 10_000
"""Keys whose groups are remembered."""


class GroupAdmission:
    """The groups of one state of the settings (``GroupLimits``)."""

    def __init__(self, core: Collaborators, settings: Settings, reservations: Reservations) -> None:
        self._core, self._reservations = core, reservations
        self.groups = tuple(map(Group, settings.groups))
        self.tallies: Mapping[str, Tally] = {
            group.name: Tally(core, group) for group in self.groups
        }
        self._known: dict[str, tuple[Key, tuple[Group, ...]]] = {}

    def covers(self, key: Key) -> bool:
        return bool(self.groups_of(key))

    def groups_of(self, key: Key) -> tuple[Group, ...]:
        """The groups that a key is in, in the order of the settings."""
        known = self._known.get(key.id)
        # A key that was changed, such as its name, is another value with the same id.
        if known is not None and known[0] is key:
            return known[1]
        groups = tuple(group for group in self.groups if group.has(key.id, key.name))
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[key.id] = key, groups
        return groups

    async def admit(self, run: RequestRun, plan: Plan) -> None:
        """Let in a call that is about to be sent. Raises LimitExceeded, Forbidden, Unavailable."""
        key = run.record.key
        for group in () if key is None else self.groups_of(key):
            tally = self.tallies[group.name]
            if group.reserve:
                most = greatest(run, plan, self._core.prices, in_money=group.has_money)
                await self._reservations.reserve(group, run.record, most)
                await tally.spent()  # It counts the minutes of calls that are over.
            else:
                await self._look(group)
            if group.minute is not None:
                try:
                    await self._core.limits.admit(group.minute)
                except LimitExceeded as error:
                    raise group.worded(error) from None
            tally.begin(run.record)

    async def check(self, key: Key, *, is_open: bool = False) -> None:
        """See whether more may be used. Raises LimitExceeded, Forbidden, Unavailable."""
        for group in self.groups_of(key):
            if group.reserve and is_open:
                raise Forbidden(
                    "This key's group reserves what calls may cost, and what this costs is not "
                    "known before it ends",
                    code=CODE,
                )
            await self._look(group)

    async def use_of(self, group: Group) -> tuple[KeySpent, Spending]:
        """What a group has used by now, and what is reserved. Raises what the database raises."""
        held = await self._reservations.held(group) if group.reserve else NOTHING
        return await self.tallies[group.name].spent(), held

    async def _look(self, group: Group) -> None:
        spent = await self.tallies[group.name].spent()
        reached = group.reached(spent)
        if reached is not None:
            limit, _ = reached
            wait = limit.until(self._core.limits, self._core.clock())
            raise group.refused(limit, spent, NOTHING, NOTHING, wait)
