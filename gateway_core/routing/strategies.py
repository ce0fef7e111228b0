"""The order in which a combo's members are tried.

Nothing is ever dropped here: each strategy only says who comes first.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ..config.settings import ComboStrategy, Settings
from ..contracts.conversation import Conversation, Media
from .cooldowns import Cooldowns
from .difficulty import difficulty, fit
from .plan import Member, Plan
from .snapshot import ConfigSnapshot

AFFINITY_SECONDS = 3600.0
MOST_AFFINITIES = 1000


class MemberOrder:
    """Orders members and remembers what that takes: whose turn it is, who talked to whom."""

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
        asked: Callable[[], Conversation],
    ) -> list[Member]:
        """The plan's members in the order to try them."""
        members = list(plan.members)
        if plan.combo is None or len(members) < 2:
            return members
        name = plan.combo.name
        if plan.strategy == "round-robin":
            members = self._rotated(name, members, snapshot.settings, session)
        elif plan.strategy == "weighted":
            members = self._weighted(members)
        elif plan.strategy == "smart-scoring":
            members.sort(key=lambda member: -self._score(member, snapshot))
        elif plan.strategy == "smart":
            wanted = difficulty(asked())
            members.sort(key=lambda member: fit(member.target, wanted))
        return _able_first(members, asked)

    def _rotated(
        self, name: str, members: list[Member], settings: Settings, session: str | None
    ) -> list[Member]:
        own = settings.combo_strategies.get(name) or ComboStrategy()
        limit = own.sticky_round_robin_limit or settings.combo_sticky_round_robin_limit
        start = self._start(name, len(members), limit)
        if session and limit > 1:
            start = self._kept(name, session, start) % len(members)
        return members[start:] + members[:start]

    def _start(self, name: str, count: int, limit: int) -> int:
        start, times = self._round_robin.get(name, (0, 0))
        if times >= limit:
            start, times = start + 1, 0
        self._round_robin[name] = (start % count, times + 1)
        return start % count

    def _kept(self, name: str, session: str, start: int) -> int:
        """Where this conversation began before, if that was not too long ago."""
        now, key = self._clock(), (name, session)
        kept, until = self._affinities.pop(key, (start, 0.0))
        start = kept if until > now else start
        self._affinities[key] = (start, now + AFFINITY_SECONDS)
        if len(self._affinities) > MOST_AFFINITIES:
            self._affinities.popitem(last=False)
        return start

    def _weighted(self, members: list[Member]) -> list[Member]:
        weights = [member.weight for member in members]
        if not any(weights):
            return members
        first = self._chance.choices(range(len(members)), weights)[0]
        return [members[first], *members[:first], *members[first + 1 :]]

    def _score(self, member: Member, snapshot: ConfigSnapshot) -> float:
        accounts = snapshot.accounts.get(member.target.provider.id, ())
        model = member.target.model.id
        awake = [a for a in accounts if self._health.find(a.id, model) is None]
        return max((self._health.score(a.id, model) for a in awake), default=-1.0)


def _able_first(members: Sequence[Member], asked: Callable[[], Conversation]) -> list[Member]:
    """Members known not to see images go behind the others when there is an image to see."""
    if all(member.target.model.vision is not False for member in members):
        return list(members)
    if not _shows_images(asked()):
        return list(members)
    return sorted(members, key=lambda member: member.target.model.vision is False)


def _shows_images(conversation: Conversation) -> bool:
    return any(
        isinstance(part, Media) and part.kind in ("image", "video", "document")
        for turn in conversation.turns
        for part in turn.parts
    )
