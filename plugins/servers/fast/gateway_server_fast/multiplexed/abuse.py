"""Limits what a client sends that costs us and brings no request: RFC 9113, section 10.5."""

BUDGET = 1000
"""How many such frames a client may send at once."""
BUDGET_PER_SECOND = 100
"""How many more with each second."""
# "Rapid reset", CVE-2023-44487: the request before it has cost a task and a scope.
RESET_COST = 5
MAX_SETTINGS = 256
"""How many settings a client may send in all: each new one is kept."""


class AbuseError(Exception):
    """A client sends more than any client needs; a sentence for the log."""


class AbuseBudget:
    """What one connection may still send. Times are seconds that never go back."""

    __slots__ = ("_left", "_updated")

    def __init__(self, now: float) -> None:
        self._left, self._updated = float(BUDGET), now

    def refill(self, now: float) -> None:
        self._left = min(BUDGET, self._left + BUDGET_PER_SECOND * (now - self._updated))
        self._updated = now

    def spend(self, cost: int) -> None:
        """Raises AbuseError."""
        self._left -= cost
        if self._left < 0:
            raise AbuseError("too much came without a request")
