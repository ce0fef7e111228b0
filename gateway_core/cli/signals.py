"""Signals that ask the gateway to stop."""

import asyncio
import signal
from collections.abc import Callable, Iterable


def stop_on_signals(
    stop: asyncio.Event,
    shorten_drain: Callable[[], None],
    signals: Iterable[signal.Signals] = (signal.SIGTERM, signal.SIGINT),
) -> None:
    """Set ``stop`` on a signal, and shorten the drain on a second one.

    SIGHUP, from a terminal that is closed, stops as well. It may come twice, so a second one
    shortens nothing.
    """
    loop = asyncio.get_running_loop()

    def request_stop() -> None:
        if stop.is_set():
            shorten_drain()
        stop.set()

    for name in signals:
        loop.add_signal_handler(name, request_stop)
    if stops_on_hangup():
        loop.add_signal_handler(signal.SIGHUP, stop.set)


def stops_on_hangup() -> bool:
    """Whether a closed terminal ends the process. ``nohup`` sets SIGHUP to be ignored."""
    return hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
