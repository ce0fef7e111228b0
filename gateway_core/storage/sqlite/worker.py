"""One thread that owns one SQLite connection and does jobs in the order they were posted.

The order is what makes cancellation safe: whoever gives up waiting posts the
job that cleans up, and that job runs after whatever was posted before it.
"""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import apsw

from ..errors import StorageUnavailable

P = ParamSpec("P")
T = TypeVar("T")


class _Job(Generic[T]):
    """Something to do, and where its result is awaited, if anywhere."""

    __slots__ = ("abandoned", "future", "work")

    def __init__(self, work: Callable[[], T], future: asyncio.Future[T] | None = None) -> None:
        self.work = work
        self.future = future
        self.abandoned = False

    def settle(self, result: Any, error: BaseException | None) -> None:
        if self.future is None or self.abandoned:
            return
        try:
            self.future.get_loop().call_soon_threadsafe(_settle, self.future, result, error)
        except RuntimeError:
            pass  # The waiter's event loop is closed, so nobody waits.


class Worker:
    """Runs jobs on its own thread until it is closed.

    With ``interrupts`` a query whose waiter gives up is stopped in the middle;
    without, it runs to its end.
    """

    def __init__(self, name: str, *, interrupts: bool) -> None:
        self._interrupts = interrupts
        self._connection: apsw.Connection | None = None
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._turn = threading.Lock()
        self._current: _Job[Any] | None = None
        self._end: asyncio.Future[None] | None = None
        # A daemon, so that a database someone forgot to close does not hold the process.
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @classmethod
    async def start(
        cls, name: str, connect: Callable[[], apsw.Connection], *, interrupts: bool
    ) -> "Worker":
        """A worker whose connection is open. Raises what ``connect`` raises."""
        worker = cls(name, interrupts=interrupts)
        try:
            worker._connection = await worker._await(connect)
        except BaseException:
            worker._jobs.put(None)
            raise
        return worker

    async def run(
        self, work: Callable[Concatenate[apsw.Connection, P], T], /, *args: P.args, **kw: P.kwargs
    ) -> T:
        """Do a job and wait for its result. Raises StorageUnavailable after ``close``."""
        if self._connection is None:
            raise StorageUnavailable("The gateway's database is closed")
        return await self._await(partial(work, self._connection, *args, **kw))

    def post(self, work: Callable[[apsw.Connection], None]) -> None:
        """Do a job that nobody waits for; after ``close`` there is nothing to do it on."""
        if self._connection is not None:
            self._jobs.put(_Job(partial(work, self._connection)))

    async def close(self, last: Callable[[apsw.Connection], None]) -> None:
        """Do what was posted before, then ``last``, and end the thread."""
        if self._connection is not None:
            self._end = asyncio.get_running_loop().create_future()
            self._jobs.put(_Job(partial(last, self._connection), self._end))
            self._jobs.put(None)
            self._connection = None
        if self._end is not None and not self._end.done():
            await asyncio.shield(self._end)
        self._thread.join()

    async def _await(self, work: Callable[[], T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = _Job(work, future)
        self._jobs.put(job)
        try:
            return await future
        except asyncio.CancelledError:
            with self._turn:
                job.abandoned = True
                connection = self._connection
                if self._interrupts and self._current is job and connection is not None:
                    connection.interrupt()
            raise

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._do(job)
            del job  # Its result is not to live on while the thread waits.

    def _do(self, job: _Job[Any]) -> None:
        with self._turn:
            if job.abandoned:
                return
            self._current = job
        result = error = None
        try:
            result = job.work()
        except BaseException as caught:  # It belongs to the waiter, whatever it is.
            error = caught
        with self._turn:
            self._current = None
        job.settle(result, error)
        del result, error  # The error's traceback holds this frame; this frame lets go of it.


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
