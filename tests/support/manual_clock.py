"""A clock that stands still until a test moves it."""


class Clock:
    """``now`` is in seconds, of wall or monotonic time."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds
