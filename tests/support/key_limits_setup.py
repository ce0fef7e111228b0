"""Limits of one key over a ledger in memory, with two manual clocks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from zoneinfo import ZoneInfo

from manual_clock import Clock

from gateway_core.contracts.errors import LimitExceeded
from gateway_core.identity.keys import Key
from gateway_core.identity.policy import Policy
from gateway_core.metering.limits import KeyLimits
from gateway_core.storage.stores.key_usage import NOTHING, KeySpent, Spending, spent_of
from gateway_core.storage.stores.usage import UsageRecord

BERLIN = ZoneInfo("Europe/Berlin")


def key(**limits: int) -> Key:
    return Key(
        id="k",
        name="k",
        digest=b"",
        is_active=True,
        expires_at=None,
        allowed_combos=frozenset(),
        policy=Policy(**limits),
        connections=frozenset(),
        has_limits=True,
        is_restricted=True,
    )


class KeyLimitsSetup:
    """Limits over a ledger in memory, with two clocks."""

    def __init__(self, now: datetime, zone: ZoneInfo = BERLIN) -> None:
        self.wall, self.steady = Clock(now.timestamp()), Clock(50.0)
        self.zone = zone
        self.days: dict[str, Spending] = {}
        self.waiting: list[UsageRecord] = []
        self.reads = 0
        self.is_down = False
        self.limits = KeyLimits(
            self.read, self.still, lambda: spent_of(self.waiting), self.wall, self.steady, zone
        )

    async def read(self, key_id: str, day: str) -> KeySpent:
        self.reads += 1
        if self.is_down:
            raise OSError("no database")
        month, ever = NOTHING, NOTHING
        for other, spent in self.days.items():
            ever = ever.plus(spent)
            if other[:7] == day[:7]:
                month = month.plus(spent)
        return KeySpent(day=day, today=self.days.get(day, NOTHING), month=month, ever=ever)

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        yield

    @property
    def day(self) -> str:
        return datetime.fromtimestamp(self.wall.now, self.zone).date().isoformat()

    def move(self, seconds: float) -> None:
        """Move both clocks."""
        self.wall.move(seconds)
        self.steady.move(seconds)

    def finish(self, input_tokens: int = 0, output_tokens: int = 0, cost: int = 0) -> None:
        """Finish a call: its row is created and written."""
        used = Spending(1, input_tokens, output_tokens, cost)
        self.limits.record(record(self.day, input_tokens, output_tokens, cost))
        self.days[self.day] = self.days.get(self.day, NOTHING).plus(used)

    async def refused(self, **limits: int) -> LimitExceeded | None:
        try:
            await self.limits.admit(key(**limits))
        except LimitExceeded as error:
            return error
        return None

    async def admits(self, **limits: int) -> bool:
        return await self.refused(**limits) is None


def record(day: str, input_tokens: int, output_tokens: int, cost: int | None) -> UsageRecord:
    return UsageRecord(
        request_id="r",
        started_at="",
        finished_at="",
        model_asked="m",
        endpoint="/v1/x",
        api_key_id="k",
        day=day,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=cost,
    )


def berlin(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=BERLIN)  # type: ignore[arg-type,misc]


NOON = berlin(2031, 5, 14, 12)
