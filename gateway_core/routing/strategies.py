"""The order in which a combo's members are tried.

Nothing is ever dropped here: each strategy only chooses who comes first.
"""

import random
from collections import OrderedDict
from collections.abc import Callable

from ..config.settings import ComboStrategy, Settings
from ..contracts.conversation import Conversation, Media
from .cooldowns import Cooldowns
from .difficulty import difficulty, fit
from .plan import Member, Plan
from .snapshot import ConfigSnapshot

AFFINITY_SECONDS = 3600.0
MOST_AFFINITIES = 1000


class MemberOrder:
    """Orders members; keeps the turns of round-robin and the members of conversations."""

    def __init__(
        self, health: Cooldowns, clock: Callable[[], float], chance: random.Random
    ) -> None:
        self._health = health
        self._clock = clock
        self._chance = chance
        self._round_robin: dict[str, tuple[int, int]] = {}
        self._affinities: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def members(
        self,
        plan: Plan,
        snapshot: ConfigSnapshot,
        session: str | None,
        read: Callable[[], Conversation],
    ) -> list[Member]:
        """The plan's members in the order to try them."""
        members = list(plan.members)
        if plan.combo is None or len(members) < 2:
            return members
        name = plan.combo.name
        if plan.strategy == "round-robin":
            members = self._rotated(name, members, snapshot.settings, session)
        elif plan.strategy == "weighted":
            weights = [member.weight for member in members]
            if any(weights):
                members.insert(
                    0, members.pop(self._chance.choices(range(len(members)), weights)[0])
                )
        elif plan.strategy == "smart-scoring":
            members.sort(key=lambda member: -self._score(member, snapshot))
        elif plan.strategy == "smart":
            needed = difficulty(read())
            members.sort(key=lambda member: fit(member.target, needed))
        # Members known not to see images go last, when there is an image. Reading the conversation
        # costs time, so it is left out where it could change nothing.
        if any(member.target.model.vision is False for member in members) and any(
            isinstance(part, Media) and part.kind in ("image", "video", "document")
            for turn in read().turns
            for part in turn.parts
        ):
            members.sort(key=lambda member: member.target.model.vision is False)
        return members

    def _rotated(
        self, name: str, members: list[Member], settings: Settings, session: str | None
    ) -> list[Member]:
        own = settings.combo_strategies.get(name) or ComboStrategy()
        limit = own.sticky_round_robin_limit or settings.combo_sticky_round_robin_limit
        start, times = self._round_robin.get(name, (0, 0))
        if times >= limit:
            start, times = start + 1, 0
        start %= len(members)
        self._round_robin[name] = (start, times + 1)
        if session and limit > 1:
            # A conversation begins with the member it began with before, for a while.
            now, key = self._clock(), (name, session)
            previous, until = self._affinities.pop(key, (start, 0.0))
            start = previous if until > now else start
            self._affinities[key] = (start, now + AFFINITY_SECONDS)
            if len(self._affinities) > MOST_AFFINITIES:
                self._affinities.popitem(last=False)
            # The combo may have become shorter since.
            start %= len(members)
        return members[start:] + members[:start]

    def _score(self, member: Member, snapshot: ConfigSnapshot) -> float:
        accounts = snapshot.accounts.get(member.target.provider.id, ())
        model = member.target.model.id
        awake = [a for a in accounts if self._health.find(a.id, model) is None]
        return max((self._health.score(a.id, model) for a in awake), default=-1.0)
