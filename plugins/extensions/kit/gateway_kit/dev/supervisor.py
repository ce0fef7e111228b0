"""The parent: watches a plugin's source and replaces the process that serves it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress

import msgspec

from .messages import GO, ChildMessage, ChildOptions, encode, read_message

POLL = 0.5
"""Seconds between two looks at the source."""
PATIENCE = 5.0
"""Seconds a child may take to end."""
LONGEST_LINE = 1 << 20

Show = Callable[[str], None]
ReadDigests = Callable[[], Mapping[str, str]]
"""Gives a digest for each file of the plugin."""


class Child:
    """A process that serves one version of the plugin."""

    def __init__(self, process: Process, show: Show) -> None:
        self._process = process
        self._show = show
        self._output: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, options: ChildOptions, show: Show) -> "Child":
        """Begin to load the plugin. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway_kit.dev", encode(options).decode()),
            stdin=PIPE,
            stdout=PIPE,
            limit=LONGEST_LINE,
            # A terminal's Ctrl-C is for the parent alone, which ends its child in order.
            start_new_session=True,
        )
        return cls(process, show)

    @property
    def has_ended(self) -> bool:
        return self._process.returncode is not None

    async def reaches(self, step: str) -> bool:
        """Wait for this step and show the child's messages; false when it fails."""
        while (message := await self._next()) is not None:
            if message.text:
                self._show(message.text)
            if message.step:
                return message.step == step
        self._show(f"The plugin has ended its process, with code {await self._process.wait()}.")
        return False

    async def serve(self) -> bool:
        """Let it take the data and the port; false when it cannot."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(GO)
            await self._process.stdin.drain()
        if not await self.reaches("serving"):
            return False
        self._output = asyncio.create_task(self._pass_on())
        return True

    async def stop(self) -> None:
        """End it in order, or at once when that takes too long."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._output is not None:
            await self._output

    async def _pass_on(self) -> None:
        while (message := await self._next()) is not None:
            self._show(message.text)

    async def _next(self) -> ChildMessage | None:
        """The next message; ``None`` once the process has ended."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        with suppress(msgspec.DecodeError):
            return read_message(line) if line else None
        return ChildMessage(line.decode("utf-8", "replace").rstrip())


class Supervisor:
    """Serves the plugin as it is, and as it becomes."""

    def __init__(self, options: ChildOptions, read_digests: ReadDigests, show: Show) -> None:
        self._options = options
        self._read_digests = read_digests
        self._show = show
        self._serving: Child | None = None

    async def run(self) -> None:
        """Until it is cancelled. Raises OSError."""
        seen: Mapping[str, str] | None = None
        try:
            while True:
                digests = seen
                # A file that is just being replaced cannot be read; the next round reads it.
                with suppress(OSError):
                    digests = self._read_digests()
                if digests != seen:
                    seen = digests
                    await self._replace()
                elif self._serving is not None and self._serving.has_ended:
                    assert self._serving is not None
                    await self._serving.stop()
                    self._serving = None
                    self._show(f"The gateway has ended. {self._waiting()}")
                await asyncio.sleep(POLL)
        finally:
            if self._serving is not None:
                await self._serving.stop()

    async def _replace(self) -> None:
        """Load the current source, and let it take over if it loads."""
        new = await Child.start(self._options, self._show)
        try:
            if not await new.reaches("sound"):
                self._show(self._waiting())
                return
            if self._serving is not None:
                await self._serving.stop()
                self._serving = None
            if await new.serve():
                self._serving = new
            else:
                self._show(self._waiting())
        finally:
            if self._serving is not new:
                await new.stop()

    def _waiting(self) -> str:
        still = "The plugin as it was is still served. " if self._serving is not None else ""
        return f"{still}Save the source again to go on."
