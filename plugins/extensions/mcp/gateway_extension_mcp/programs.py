"""An MCP server as a program: started here, spoken to over its pipes, and ended with its tree.

The library's own client reads lines of any length and writes the program's errors into the
gateway's. This one bounds what a program says between two messages to it, and drops its errors.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

GRACE = 2.0
"""Seconds to end after the pipe is closed, and after SIGTERM."""
PIECE = 64 * 1024

Incoming = SessionMessage | Exception


@asynccontextmanager
async def program(
    command: str,
    args: Sequence[str],
    env: Mapping[str, str],
    *,
    most_bytes: int,
    ended: Callable[[], None],
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Start a program; its streams, as the library's sessions want them. ``ended`` is called once
    it says no more. Raises OSError."""
    process = await anyio.open_process(
        [command, *args],
        env={**get_default_environment(), **env},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    talk = Talk(process, most_bytes, ended)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(talk.listen)
            group.start_soon(talk.speak)
            try:
                yield talk.incoming, talk.outgoing
            finally:
                group.cancel_scope.cancel()
    finally:
        talk.close()
        # Shielded, so that neither a stop of the gateway nor a client that leaves keeps the
        # program alive; each wait in it has an end.
        ending = asyncio.ensure_future(_end(process))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending
            raise


class Talk:
    """Both directions of one program's pipes."""

    def __init__(self, process: Process, most_bytes: int, ended: Callable[[], None]) -> None:
        self._process, self._most, self._ended = process, most_bytes, ended
        self._said = 0
        """Bytes since something was last said to it."""
        self._heard, self.incoming = anyio.create_memory_object_stream[Incoming](0)
        self.outgoing, self._spoken = anyio.create_memory_object_stream[SessionMessage](0)

    async def listen(self) -> None:
        assert self._process.stdout is not None
        line = bytearray()
        try:
            async with self._heard:
                while True:
                    piece = await self._process.stdout.receive(PIECE)
                    self._said += len(piece)
                    if self._said > self._most:
                        return
                    *whole, rest = piece.split(b"\n")
                    for part in whole:
                        line += part
                        await self._hear(bytes(line))
                        line.clear()
                    line += rest
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            pass
        finally:
            self._ended()

    async def _hear(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            return  # Programs print other things too.
        await self._heard.send(SessionMessage(message))

    async def speak(self) -> None:
        assert self._process.stdin is not None
        try:
            async with self._spoken:
                async for each in self._spoken:
                    self._said = 0
                    text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            self._heard.close()

    def close(self) -> None:
        for stream in (self._heard, self.incoming, self.outgoing, self._spoken):
            stream.close()


async def _end(process: Process) -> None:
    """Close its input, then SIGTERM, then SIGKILL, to it and all that it has started.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
    """
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    # What it still says is read and dropped: else it could not end for a full pipe.
    draining = asyncio.ensure_future(_drain(process))
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await _has_ended(process):
                break
            _signal(process, number)
        # Its children share its group, which may outlive it.
        _signal(process, signal.SIGKILL)
        await _has_ended(process)
    finally:
        draining.cancel()
        with suppress(asyncio.CancelledError):
            await draining
        await process.stdout.aclose()


async def _drain(process: Process) -> None:
    assert process.stdout is not None
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            await process.stdout.receive(PIECE)


async def _has_ended(process: Process) -> bool:
    with anyio.move_on_after(GRACE):
        while process.returncode is None:  # wait() would wait for the pipe's end, too.
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
