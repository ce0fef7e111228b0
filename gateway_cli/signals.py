"""Signals that ask the gateway to stop, or for a new generation of processes."""

import asyncio
import signal
from collections.abc import Callable, Iterable
from enum import Enum, auto

from gateway_administration.machine import has_terminal

HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)
"""Windows has no such signal."""
RETIRE: signal.Signals | None = getattr(signal, "SIGUSR1", None)
"""Sent to a generation once the next one serves: accept no more, and finish what runs."""


class Meaning(Enum):
    """What a SIGHUP is for."""

    STOP, RELOAD, NOTHING = auto(), auto(), auto()


class Hangup:
    """Tells the SIGHUP of a terminal that was closed from one that somebody sent."""

    def __init__(self) -> None:
        self._is_immune = HANGUP is not None and signal.getsignal(HANGUP) is signal.SIG_IGN
        """``nohup`` sets the signal to be ignored."""
        self._had_terminal = has_terminal()

    def meaning(self) -> Meaning:
        """To be asked once for each signal."""
        if not self._had_terminal or has_terminal():
            return Meaning.RELOAD
        if not self._is_immune:
            return Meaning.STOP
        self._had_terminal = False
        return Meaning.NOTHING


hangup = Hangup()
"""Made before anything handles the signal."""


def stop_on_signals(
    stop: asyncio.Event,
    shorten_drain: Callable[[], None],
    signals: Iterable[signal.Signals] = (signal.SIGTERM, signal.SIGINT),
    reload: Callable[[], None] | None = None,
    hangup: Hangup = hangup,
) -> None:
    """Set ``stop`` on a signal, and shorten the drain on a second one.

    With ``reload``, SIGHUP calls it; from a terminal that is closed it stops as well. That may come
    twice, so a second one shortens nothing.
    """
    loop = asyncio.get_running_loop()

    def request_stop() -> None:
        if stop.is_set():
            shorten_drain()
        stop.set()

    def on_hangup(reload: Callable[[], None]) -> None:
        meaning = hangup.meaning()
        if meaning is Meaning.STOP:
            stop.set()
        elif meaning is Meaning.RELOAD:
            reload()

    for name in signals:
        loop.add_signal_handler(name, request_stop)
    if reload is not None and HANGUP is not None:
        loop.add_signal_handler(HANGUP, on_hangup, reload)
