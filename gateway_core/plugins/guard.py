"""Runs a plugin's code where nothing it does can stop the gateway.

The code runs on one helper thread that serves call after call. A call that
takes too long loses its thread: the next call gets a new one, and since such
threads are daemons, none of them keeps the process from ending.
"""

import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

LONGEST_REASON = 500


class PluginFailed(Exception):
    """A plugin's code raised, tried to leave the process or did not come back.

    The message says which, in one line; ``trace`` is the traceback as text,
    empty when there is none.
    """

    def __init__(self, reason: str, trace: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.trace = trace


class Guard:
    """Gives plugin code a limit in seconds. Used from one thread, as a context manager."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._worker: _Worker | None = None

    def __enter__(self) -> "Guard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._worker is not None:
            self._worker.dismiss()

    def run(self, work: Callable[[], T]) -> T:
        """Do the work and give its result. Raises PluginFailed, and nothing else of the work's."""
        if self._worker is None:
            self._worker = _Worker()
        result: list[T] = []
        self._worker.inbox.put(lambda: result.append(work()))
        try:
            failure = self._worker.outbox.get(timeout=self._limit)
        except Empty:
            self._give_up()
            raise PluginFailed(f"did not finish within {self._limit:g} s") from None
        if failure is not None:
            raise failure
        return result[0]

    def _give_up(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.dismiss()
            _interrupt(worker)


class _Worker(threading.Thread):
    """Does what is put into its inbox and answers each with what went wrong, if anything did."""

    def __init__(self) -> None:
        super().__init__(name="plugin guard", daemon=True)
        self.inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.outbox: SimpleQueue[PluginFailed | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        with suppress(SystemExit):  # an interruption may arrive when the work is just done
            while (work := self.inbox.get()) is not None:
                self.outbox.put(_failure_of(work))

    def dismiss(self) -> None:
        """End the thread after the work it has in hand."""
        self.inbox.put(None)


def _failure_of(work: Callable[[], None]) -> PluginFailed | None:
    try:
        work()
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: it is not our code
        return PluginFailed(_reason(error), _trace(error))
    return None


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"tried to end the process with sys.exit({error.code!r})"[:LONGEST_REASON]
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = "its message cannot be shown"
    name = type(error).__name__
    return f"{name}: {message}"[:LONGEST_REASON] if message else name


def _trace(error: BaseException) -> str:
    """Format on the helper thread, because an exception's own methods are the plugin's too."""
    try:
        return "".join(traceback.format_exception(error))
    except Exception:
        return ""


def _interrupt(worker: threading.Thread) -> None:
    """Ask an abandoned thread to stop.

    This ends a busy loop, which would otherwise take turns at the interpreter
    for as long as the gateway lives, and frees the import lock it holds. A
    thread that sleeps in the operating system costs nothing and stays.
    """
    import ctypes

    if worker.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(worker.ident), ctypes.py_object(SystemExit)
        )
