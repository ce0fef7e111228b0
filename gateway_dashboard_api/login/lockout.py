"""Who has guessed wrong too often, and how long they wait.

Five failures from one address shut it out for 30 seconds, the next five for two
minutes, then ten, then thirty. A quiet hour forgets everything, and so does
getting it right. Whatever asks for the password or a second factor counts here.

An attempt counts as a failure from the moment it begins, so that guesses made
at the same time cannot pass together.
"""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from gateway_administration.stores.lockouts import MOST, Standing
from gateway_core.contracts.errors import LimitExceeded

FAILURES = 5
STEPS = (30.0, 120.0, 600.0, 1800.0)
"""Seconds; the last one stays."""
QUIET = 3600.0
HINT = "An operator on the gateway's machine can run: model-gateway reset-password"


class LockedOut(LimitExceeded):
    """Too many failed attempts from an address."""

    code = "login_locked"

    def __init__(self, wait: float) -> None:
        seconds = max(1, math.ceil(wait))
        super().__init__(
            f"Too many failed attempts. Try again in {seconds} seconds", retry_after=seconds
        )


class _Record(msgspec.Struct):
    failures: int = 0
    """Since the last lock."""
    locks: int = 0
    until: float = -math.inf
    """When the last lock ends."""
    last: float = -math.inf
    """When the last failure was."""


class LoginAttempt(msgspec.Struct, frozen=True):
    """One attempt, already counted as a failure."""

    address: str
    left: int
    """Failures that are still free before the next lock; 0 when this one locks."""


class Lockout:
    """The table. ``monotonic`` gives seconds; nothing here looks at the wall clock."""

    def __init__(self, monotonic: Callable[[], float], *, most: int = MOST) -> None:
        self._monotonic = monotonic
        self._most = most
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    def begin(self, address: str) -> LoginAttempt:
        """Count an attempt. Raises LockedOut, and does not count then."""
        self.check(address)
        now = self._monotonic()
        key = bucket(address)
        record = self._record(key, now)
        self._records.move_to_end(key)
        record.failures += 1
        record.last = now
        if record.failures < FAILURES:
            return LoginAttempt(key, FAILURES - record.failures)
        record.until = now + STEPS[min(record.locks, len(STEPS) - 1)]
        record.locks += 1
        record.failures = 0
        return LoginAttempt(key, 0)

    def succeed(self, attempt: LoginAttempt) -> None:
        """It was right: forget the address."""
        self._records.pop(attempt.address, None)

    def withdraw(self, attempt: LoginAttempt) -> None:
        """It was neither right nor wrong yet: as if it had not been, and nothing else."""
        record = self._records.get(attempt.address)
        if record is None:
            return
        if attempt.left == 0 and record.locks:
            record.failures, record.until = FAILURES - 1, -math.inf
            record.locks -= 1
        else:
            record.failures = max(0, record.failures - 1)

    def clear(self) -> None:
        """Forget everybody."""
        self._records.clear()

    def check(self, address: str) -> None:
        """Raises LockedOut."""
        record, now = self._records.get(bucket(address)), self._monotonic()
        if record is not None and now < record.until:
            raise LockedOut(record.until - now)

    def standing(self, key: str) -> Standing | None:
        """How the addresses of a bucket stand; ``None`` where there is nothing against them."""
        record = self._records.get(key)
        if record is None or not (record.failures or record.locks):
            return None
        return Standing(
            failures=record.failures,
            locks=record.locks,
            until=max(0.0, record.until),
            last=record.last,
        )

    def adopt(self, key: str, standing: Standing | None) -> None:
        """Let a bucket stand as another table says. Raises LockedOut when there is no room."""
        now = self._monotonic()
        if standing is None or not standing.last or now - standing.last >= QUIET:
            self._records.pop(key, None)
            return
        record = self._record(key, now)
        record.failures, record.locks = standing.failures, standing.locks
        record.until, record.last = standing.until, standing.last

    def _record(self, key: str, now: float) -> _Record:
        """The record of a bucket. Raises LockedOut when the table is full of locks."""
        record = self._records.get(key)
        if record is not None and now - record.last < QUIET:
            return record
        if record is None and len(self._records) >= self._most:
            # ``begin`` moves a record to the end, so the first without a lock is the quietest.
            oldest = next((k for k, each in self._records.items() if each.until <= now), None)
            if oldest is None:
                raise LockedOut(min(each.until for each in self._records.values()) - now)
            del self._records[oldest]
        record = self._records[key] = _Record()
        return record


def bucket(address: str) -> str:
    """What is counted together: one IPv4 address, or the /64 that an IPv6 customer gets."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed.packed[:8] + bytes(8), 64)))
    return str(parsed)
