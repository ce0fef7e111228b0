"""Runs the ``lifespan`` of a plugin where it cannot hold up the gateway.

Each has a task of its own, in which it is entered and left. What it raises, a
background job of it that dies, or an attempt to end the process ends that task
and nothing else. One that blocks the event loop blocks all the same.
"""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager

from .guard import LoadGuard, PluginFailed

CUT = 1.0
"""Seconds that a cancelled lifespan may still take."""

log = logging.getLogger(__name__)


class Lifespan:
    """One plugin's, from its beginning to its end, within the patience and limit of ``guard``."""

    def __init__(self, plugin: str, context: object, guard: LoadGuard) -> None:
        self._plugin = plugin
        self._context = context
        self._guard = guard
        self._entered = asyncio.Event()
        self._leaving = asyncio.Event()
        self._failure: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def enter(self) -> None:
        """Raises PluginFailed."""
        context = self._context
        if not isinstance(context, AbstractAsyncContextManager):
            kind = type(context).__name__
            raise PluginFailed(f"it returned {kind} where an async context manager is expected")
        self._task = asyncio.create_task(self._live(context))
        entered, patience = asyncio.create_task(self._entered.wait()), self._guard.patience
        try:
            await asyncio.wait(
                (self._task, entered), timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            entered.cancel()
        if self._entered.is_set():
            return
        if not self._task.done():
            self._guard.lose_patience()
            await self._cut(self._task)
            raise PluginFailed(f"did not begin within {patience:g} s")
        raise PluginFailed(described(self._failure))

    async def leave(self) -> None:
        """End it, by force if need be. Raises nothing of the plugin's."""
        task = self._task
        if task is None or task.done():
            return
        self._leaving.set()
        limit = self._guard.limit
        await asyncio.wait((task,), timeout=limit)
        if not task.done():
            log.warning("plugin %s: its lifespan did not end in %g s", self._plugin, limit)
            await self._cut(task)

    async def _live(self, context: AbstractAsyncContextManager[object]) -> None:
        try:
            async with context:
                self._entered.set()
                await self._leaving.wait()
        except asyncio.CancelledError as error:
            self._failure = error
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            self._failure = error
            log.error("plugin %s: its lifespan failed", self._plugin, exc_info=error)

    async def _cut(self, task: "asyncio.Task[None]") -> None:
        task.cancel()
        await asyncio.wait((task,), timeout=CUT)


def described(error: BaseException | None) -> str:
    """An error in a line."""
    try:
        return "it was cancelled" if error is None else f"{type(error).__name__}: {error}"[:500]
    except Exception:
        return type(error).__name__
