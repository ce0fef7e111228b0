"""One connection for each instance: opened when a call needs it, closed when none does.

```text
call ── link ── open? ── task that holds the session ── program or address
                  └── changed, idle, ended: closed, and opened anew with the next call
```
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gateway_core.contracts.errors import GatewayError, Unavailable
from gateway_core.pipeline.context import Collaborators
from gateway_core.upstream.redaction import MASK, redact

from .instances import Instance
from .settings import Settings

if TYPE_CHECKING:
    from .sessions import Refused, Session

MOST_AT_ONCE = 32
"""Requests to one instance."""
STOP = 10.0
"""Seconds for a link to close; a program needs up to six of them."""

log = logging.getLogger(__name__)


class ServerFailed(GatewayError):
    """An MCP server could not be reached, or gave no answer of the protocol."""

    status, code = 502, "mcp_server_failed"


class ServerLate(ServerFailed):
    status, code = 504, "mcp_server_late"


class ToolRefused(GatewayError):
    """The server answered with an error of JSON-RPC."""

    status, code = 400, "mcp_error"

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


class Link:
    """The connection with one instance, as it is stored at the moment."""

    def __init__(
        self,
        core: Collaborators,
        instance: Instance,
        settings: Settings,
        admit: Callable[[Instance], None],
    ) -> None:
        """``admit`` is called before it is opened, and may raise."""
        self.instance, self.settings = instance, settings
        self._core, self._admit = core, admit
        self._opening, self._listing = asyncio.Lock(), asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._session: Session | None = None
        self._tools: tuple[float, dict[str, dict[str, Any]]] | None = None
        self._busy = 0
        self._timer: asyncio.TimerHandle | None = None
        self.error: str | None = None
        """Why it failed last."""

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self._task.done()

    async def tools(self) -> Mapping[str, dict[str, Any]]:
        """The server's tools by their own names. Raises ServerFailed, ToolRefused, Unavailable."""
        async with self._listing:
            held = self._tools
            if held is not None and time.monotonic() - held[0] < self.settings.tools_seconds:
                return held[1]
            found = await self._ask(lambda session: session.tools())
            tools = {each["name"]: each for each in found}
            self._tools = (time.monotonic(), tools)
            return tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A tool's result. Raises ServerFailed, ToolRefused, Unavailable."""
        result = await self._ask(lambda session: session.call(name, arguments))
        # Servers repeat in their errors what they were sent.
        hidden: dict[str, Any] = without(result, self.instance.secrets)
        return hidden

    async def _ask(self, ask: Callable[["Session"], Any]) -> Any:
        from .sessions import Refused

        if self._busy >= MOST_AT_ONCE:
            raise Unavailable(f"{self.instance.slug} has {MOST_AT_ONCE} calls already")
        self._busy += 1
        try:
            for is_last in (False, True):
                session = await self._opened()
                try:
                    # The library has the same limit; this one holds whatever the server does.
                    async with asyncio.timeout(self.settings.call_seconds + 1):
                        answer = await ask(session)
                except Refused as error:
                    if error.is_forgotten and not is_last:
                        await self._drop(session)
                        continue
                    raise await self._failure(session, error) from None
                except TimeoutError:
                    await self._drop(session)
                    raise self._noted(ServerLate(f"{self.instance.slug} took too long")) from None
                self.error = None
                return answer
        finally:
            self._busy -= 1
            self._rest()

    async def _failure(self, session: "Session", error: "Refused") -> GatewayError:
        slug = self.instance.slug
        if error.is_late:
            # Others may be under way on the same connection, so it stays.
            return self._noted(ServerLate(f"{slug} took too long"))
        if error.is_unsent:
            message = f"{slug} could not be reached: {self.shown(error.message)}"
            return self._noted(ServerFailed(message))
        if error.is_over:
            await self._drop(session)
            return self._noted(ServerFailed(f"{slug} closed the connection"))
        return ToolRefused(error.code, self.shown(error.message))

    def _noted(self, error: GatewayError) -> GatewayError:
        self.error = error.message
        return error

    def shown(self, text: str) -> str:
        """A server's words without what is secret of the instance."""
        return redact(text, self.instance.secrets)

    async def _opened(self) -> "Session":
        async with self._opening:
            if self._session is None or not self.is_open or self._over.is_set():
                await self._end()
                self._session = await self._open()
            return self._session

    async def _open(self) -> "Session":
        # Nothing is awaited between the count and the task, so the bound is one.
        self._admit(self.instance)
        self._over = asyncio.Event()
        ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready, self._over))
        try:
            async with asyncio.timeout(self.settings.start_seconds):
                return await asyncio.shield(ready)
        except TimeoutError:
            await self._end()
            raise self._noted(ServerLate(f"{self.instance.slug} did not answer")) from None
        except GatewayError as error:
            self._noted(error)
            raise
        except asyncio.CancelledError:
            await self._end()
            raise

    async def _hold(self, ready: "asyncio.Future[Session]", over: asyncio.Event) -> None:
        from .sessions import opened

        slug = self.instance.slug
        try:
            async with opened(self._core, self.instance, self.settings, over.set) as session:
                ready.set_result(session)
                await over.wait()
        except Exception as error:
            first = leaf(error)
            cause = self.shown(f"{type(first).__name__}: {first}")
            log.info("MCP instance %s: %s", slug, cause)
            if not ready.done():
                ready.set_exception(ServerFailed(f"{slug} could not be reached: {cause}"))
                ready.exception()  # Nobody may wait for it any more.
        finally:
            if not ready.done():
                ready.cancel()

    def _rest(self) -> None:
        """Close it later, unless it is used again."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.settings.idle_seconds, self._tire)

    def _tire(self) -> None:
        if self._busy == 0:
            self._over.set()

    async def _drop(self, session: "Session") -> None:
        """End a session, unless another one has taken its place."""
        if self._session is session:
            await self._end()

    async def _end(self) -> None:
        task, was_open = self._task, self._session is not None
        self._session = self._tools = None
        self._over.set()
        if task is None:
            return
        done, _ = await asyncio.wait({task}, timeout=STOP if was_open else 0)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=STOP)

    async def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._end()


def leaf(error: BaseException) -> BaseException:
    """What is inside groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def without(value: Any, secrets: Sequence[str]) -> Any:
    """A document with a mask in the place of each secret in its texts."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, dict):
        return {name: without(each, secrets) for name, each in value.items()}
    return [without(each, secrets) for each in value] if isinstance(value, list) else value


class Links:
    """Those of one gateway."""

    def __init__(self, core: Collaborators, settings: Callable[[], Settings]) -> None:
        self._core, self._settings = core, settings
        self._links: dict[str, Link] = {}
        self._changing = asyncio.Lock()

    async def link(self, instance: Instance) -> Link:
        """The link of an instance as it is stored now."""
        # The library takes a second to import, which the event loop has not.
        await asyncio.to_thread(import_module, f"{__package__}.sessions")
        settings = self._settings()
        async with self._changing:
            link = self._links.get(instance.slug)
            if link is None or link.instance != instance or link.settings != settings:
                await self._drop(instance.slug)
                link = Link(self._core, instance, settings, self._admit)
                self._links[instance.slug] = link
        return link

    def _admit(self, instance: Instance) -> None:
        """Raises ServerFailed, Unavailable."""
        if not instance.is_program:
            return
        settings = self._settings()
        if instance.command not in settings.commands:
            message = f"{instance.slug} starts a program that the setting commands does not name"
            raise ServerFailed(message)
        running = sum(each.is_open for each in self._links.values() if each.instance.is_program)
        if running >= settings.most_processes:
            raise Unavailable(f"{running} programs are running already (mostProcesses)")

    def get(self, slug: str) -> Link | None:
        return self._links.get(slug)

    async def drop(self, slug: str) -> None:
        """Close the link of an instance that was changed or deleted."""
        async with self._changing:
            await self._drop(slug)

    async def _drop(self, slug: str) -> None:
        link = self._links.pop(slug, None)
        if link is not None:
            await link.aclose()

    async def aclose(self) -> None:
        async with self._changing:
            await asyncio.gather(*(each.aclose() for each in self._links.values()))
            self._links.clear()
