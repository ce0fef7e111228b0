"""Limits that keys have in common; ``gateway_groups`` keeps them. Without any there is none."""

from typing import Protocol

from ..identity.keys import Key
from ..routing.plan import Plan
from .request_run import RequestRun


class GroupLimits(Protocol):
    """Each method that waits raises LimitExceeded, Forbidden and Unavailable."""

    def covers(self, key: Key) -> bool:
        """Whether calls of this key are admitted here: the fast path leaves them alone."""

    async def admit(self, run: RequestRun, plan: Plan) -> None:
        """Let in a call that is about to be sent by this plan."""

    async def check(self, key: Key, *, is_open: bool = False) -> None:
        """See whether more may be used; ``is_open`` where nobody knows before how much it is."""
