"""Runs a plugin's code where nothing it does can stop the gateway.

The code runs on one helper thread that serves call after call. A call that
takes too long loses its thread: the next call gets a new one, and since such
threads are daemons, none of them keeps the process from ending.
"""

import importlib
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from os.path import basename, dirname, sep
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TypeVar

import pluggy

T = TypeVar("T")

LONGEST_REASON = 500
_WAY_IN = ("<frozen ", *(f"{dirname(str(each.__file__))}{sep}" for each in (importlib, pluggy)))
_WAY_IN += (f"{dirname(__file__)}{sep}",)
"""How the files begin that lead from here into a plugin."""


class PluginFailed(Exception):
    """A plugin's code raised, tried to leave the process or did not come back.

    The message says which, in one line; ``trace`` is the traceback as text,
    empty when there is none, and ``place`` the plugin's own line, empty where
    that is not known or the message has it.
    """

    def __init__(self, reason: str, trace: str = "", place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.trace = trace
        self.place = place


class LoadGuard:
    """Gives plugin code a limit in seconds. Used from one thread, as a context manager."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._worker: _Worker | None = None

    def __enter__(self) -> "LoadGuard":
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
            worker, self._worker = self._worker, None
            if worker is not None:
                worker.dismiss()
                _interrupt(worker)
            raise PluginFailed(f"did not finish within {self._limit:g} s") from None
        if failure is not None:
            raise failure
        return result[0]


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
        return PluginFailed(_reason(error), *_trace(error))
    return None


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"tried to end the process with sys.exit({error.code!r})"[:LONGEST_REASON]
    try:
        message = "".join(filter(str.isprintable, " ".join(str(error).split())))
    except Exception:
        message = "its message cannot be shown"
    name = type(error).__name__
    return f"{name}: {message}"[:LONGEST_REASON] if message else name


def _trace(error: BaseException) -> tuple[str, str]:
    """The traceback from the plugin's first line on, and the plugin's own line.

    Made on the helper thread, because an exception's own methods are the plugin's too.
    """
    try:
        trace = _entered(error.__traceback__)
        text = "".join(traceback.format_exception(type(error), error, trace))
        return text, "" if isinstance(error, SyntaxError) else _place(trace)
    except Exception:
        return "", ""


def _entered(trace: TracebackType | None) -> TracebackType | None:
    """Where the plugin's code begins; what leads there tells its author nothing."""
    while trace is not None and _file(trace).startswith(_WAY_IN):
        trace = trace.tb_next
    return trace


def _place(trace: TracebackType | None) -> str:
    """The last line of the file, or the package, that the first one is in."""
    if trace is None:
        return ""
    first = _file(trace)
    home = f"{dirname(first)}{sep}" if basename(first) == "__init__.py" else first
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)]
    file, line = [(file, line) for file, line in lines if file.startswith(home)][-1]
    return f"{basename(file)}, line {line}"


def _file(trace: TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename


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
