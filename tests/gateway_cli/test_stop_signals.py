"""Which signals ask for a stop, and which of them for a quick one."""

import asyncio
import os
import signal

import pytest

from gateway_cli.event_loop import run
from gateway_cli.signals import Hangup, Meaning, stop_on_signals


class Closed(Hangup):
    """As when the terminal was closed."""

    def meaning(self) -> Meaning:
        return Meaning.STOP


def reload() -> None:
    raise AssertionError


def test_a_hangup_of_no_terminal_reloads() -> None:
    stop, reloads = asyncio.Event(), list[None]()

    async def main() -> None:
        stop_on_signals(stop, reload, reload=lambda: reloads.append(None))
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.01)

    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        run(main)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert not stop.is_set()
    assert len(reloads) == 2


@pytest.mark.parametrize(
    ("sent", "hurried"),
    [
        ([signal.SIGTERM], 0),
        ([signal.SIGTERM, signal.SIGINT], 1),
        ([signal.SIGHUP], 0),
        ([signal.SIGHUP, signal.SIGHUP], 0),
        ([signal.SIGHUP, signal.SIGTERM], 1),
    ],
)
def test_a_second_signal_hurries_unless_a_terminal_only_says_again_that_it_is_gone(
    sent: list[signal.Signals], hurried: int
) -> None:
    stop, hurries = asyncio.Event(), list[None]()

    async def main() -> None:
        stop_on_signals(stop, lambda: hurries.append(None), reload=reload, hangup=Closed())
        for name in sent:
            os.kill(os.getpid(), name)
            await asyncio.sleep(0.01)

    # Whoever started the tests may have set it to be ignored, as nohup does.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        run(main)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert stop.is_set()
    assert len(hurries) == hurried
