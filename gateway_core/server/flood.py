"""Counts what a client sends that costs us and brings nothing, and says when it is too much."""

CREDIT = 1000
"""How many idle things a client may send at once."""
EARNED = 100
"""How many more with each second."""
RESET_COST = 5
"""A reset counts for so many: the request before it had to be begun."""
TOLD = 256
"""How many settings a client may tell in all: each new one is kept."""


class Flood(Exception):
    """A client sends more than anybody needs; a sentence for the log."""


class Credit:
    """What one connection may still send. Times are seconds that never go back."""

    __slots__ = ("_left", "_seen")

    def __init__(self, now: float) -> None:
        self._left, self._seen = float(CREDIT), now

    def earn(self, now: float) -> None:
        self._left = min(CREDIT, self._left + EARNED * (now - self._seen))
        self._seen = now

    def give(self, more: int) -> None:
        """Something came that brings something."""
        self._left = min(CREDIT, self._left + more)

    def spend(self, cost: int) -> None:
        """Something came that brings nothing. Raises Flood."""
        self._left -= cost
        if self._left < 0:
            raise Flood("too much came without a request")
