"""Notices when nothing has gone to a client for a while.

Storing the time of each piece that is sent would cost something for each. So only a mark is left
by what sends, and a timer looks now and then whether there is one.
"""

import asyncio
from collections.abc import Callable

LOOKS = 10
"""How often the timer looks in the longest silence: a silence is noticed a tenth late at most."""
TICK = 0.001
"""Seconds that a timer may be early."""


class SilenceWatch:
    """Calls back once, as soon as a silence has become as long as it may be; then it is over."""

    __slots__ = ("_has_sent", "_loop", "_on_silence", "_since", "_step", "_timer", "longest")

    def __init__(
        self,
        has_sent: Callable[[], bool],
        on_silence: Callable[[], None],
        longest: float,
        step: float,
    ) -> None:
        """``has_sent`` says whether anything was sent since it was last asked; it is asked every
        ``step`` seconds."""
        self._has_sent, self._on_silence = has_sent, on_silence
        self.longest = longest
        """Seconds of silence; may be changed while it goes on."""
        self._step = step
        loop = self._loop = asyncio.get_running_loop()
        self._since = loop.time()
        self._timer = loop.call_later(min(step, longest), self._look)

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        if self._has_sent():
            self._since = now
        left = self._since + self.longest - now
        if left <= TICK:
            self._on_silence()
        else:
            self._timer = self._loop.call_later(min(self._step, left), self._look)
