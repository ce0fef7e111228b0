"""Which requests of an HTTP/3 connection have begun, and whose head is still to come."""


class Awaited:
    """Requests have the numbers 0, 4, 8 and so on, and may begin in any order."""

    def __init__(self) -> None:
        self.next = 0
        """The number above all that were seen."""
        self._begun: dict[int, float | None] = {}
        """Those without a head, and when the first bytes of it came."""

    def see(self, number: int, now: float) -> None:
        """Bytes of a request have come."""
        while self.next <= number:
            self._begun[self.next] = None
            self.next += 4
        if self._begun.get(number, now) is None:
            self._begun[number] = now

    def take(self, number: int) -> bool:
        """The head is there; false for what comes behind it."""
        found = number in self._begun
        self._begun.pop(number, None)
        return found

    def drop(self, number: int) -> None:
        """It has ended without a head."""
        self._begun.pop(number, None)

    def is_late(self, now: float, within: float) -> bool:
        """Whether a head that has begun takes longer than that."""
        return any(begun is not None and now - begun > within for begun in self._begun.values())
