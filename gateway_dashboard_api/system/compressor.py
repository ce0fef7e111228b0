"""The process of the prompt compressor Headroom: a program of an environment of its own.

There is one for a data directory. Its process holds a file locked, and keeps it so through the
crash of whoever has started it: every process of the gateway, and the next one after a kill, sees
by that lock whether it runs, and by what stands in the file which process it is. A process id
alone could be somebody else's by now.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import Conflict, GatewayError
from gateway_core.pipeline.context import Collaborators

if sys.platform != "win32":
    import fcntl

FOLDER = "headroom"
"""In the data directory; a virtual environment may be there."""
PROGRAM = "headroom"
RUNNING = "running.json"
STOP_LIMIT = 5.0
"""Seconds in which it may end by itself."""
KILL_LIMIT = 20.0
"""Seconds in which the system has to end it."""
LOOK = 0.05
"""Seconds between two looks at a lock, which nobody is told of."""
CLAIM_LIMIT = 1.0
"""Seconds for others to look at the file."""
LOG_CHUNK = 64 * 1024
LOG_PAUSE = 0.1
"""Seconds of rest after a whole chunk: what a process writes without end has to wait."""
LAST_WORDS = 1024
"""Bytes of its output that are kept."""
LAST_LIMIT = 1.0
"""Seconds to wait for them."""
INHERITED = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "HF_HOME", "NO_PROXY")
"""Variables that its process gets, with those of its own. The gateway's own hold secrets."""
OWN = "HEADROOM_"
_compressors: "dict[int, Compressor]" = {}
"""Of the running gateways, by the identity of their core."""


class Running(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the locked file says."""

    pid: int
    started_by: int
    """The process of the gateway whose end is its end."""


class Compressor:
    """The compressor of one data directory, as one process of the gateway sees it."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER
        self.last_words = b""
        """The end of the output of the process that was started last."""
        self._turn = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None

    def program(self, path: str | None) -> str | None:
        """The program: that of the folder's own environment, or the first one on ``path``."""
        own = self.folder / "bin" / PROGRAM
        return str(own) if os.access(own, os.X_OK) else shutil.which(PROGRAM, path=path)

    def running(self) -> Running | None:
        """The process that runs; ``None`` where there is none, or it has only just begun."""
        if sys.platform == "win32":
            return None
        with suppress(FileNotFoundError, msgspec.DecodeError), self._file.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return msgspec.json.decode(file.read(), type=Running)
        return None

    async def start(
        self, command: Sequence[str], variables: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        """Start the process. Raises Conflict where it runs, GatewayError where it cannot start."""
        async with self._turn:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with self._file.open("a+b") as file:
                await _claim(file)
                try:
                    process = await asyncio.create_subprocess_exec(
                        *command,
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=asyncio.subprocess.STDOUT,
                        env=_environment(variables),
                        cwd=self.folder,
                        start_new_session=True,  # A terminal's signals are the gateway's.
                        pass_fds=(file.fileno(),),
                    )
                except OSError as error:
                    message = f"The compressor cannot be started: {error.strerror}"
                    raise GatewayError(message) from None
                try:
                    file.truncate(0)
                    file.write(
                        msgspec.json.encode(Running(pid=process.pid, started_by=os.getpid()))
                    )
                except BaseException:
                    process.kill()
                    raise
            self.last_words = b""
            self._reading = asyncio.create_task(self._read(process))
            return process

    async def stop(self) -> bool:
        """End the process, by force if it does not end by itself; false where none runs.

        Raises GatewayError where it cannot be ended.
        """
        async with self._turn:
            running = self.running()
            if running is None:
                return False
            for sign, limit in ((signal.SIGTERM, STOP_LIMIT), (signal.SIGKILL, KILL_LIMIT)):
                # Its group, with what it has started itself.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(running.pid, sign)
                until = monotonic() + limit
                while monotonic() < until:
                    if self.running() is None:
                        return True
                    await asyncio.sleep(LOOK)
            raise GatewayError(f"The compressor's process {running.pid} cannot be ended")

    async def spoken(self) -> str:
        """The last line of a process that has ended."""
        await self._read_rest()
        lines = self.last_words.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    async def aclose(self) -> None:
        """End what this process has started."""
        running = self.running()
        if running is not None and running.started_by == os.getpid():
            with suppress(GatewayError):
                await self.stop()
        await self._read_rest()

    async def _read_rest(self) -> None:
        if self._reading is not None:
            # What it has started itself may write on.
            await asyncio.wait({self._reading}, timeout=LAST_LIMIT)

    @property
    def _file(self) -> Path:
        return self.folder / RUNNING

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Read what it writes, so that it never waits for a reader, and keep the end of it."""
        assert process.stdout is not None
        while chunk := await process.stdout.read(LOG_CHUNK):
            self.last_words = (self.last_words + chunk)[-LAST_WORDS:]
            if len(chunk) == LOG_CHUNK:
                await asyncio.sleep(LOG_PAUSE)
        await process.wait()


def compressor_of(core: Collaborators) -> Compressor:
    """The compressor of a running gateway."""
    return _compressors.setdefault(id(core), Compressor(core.data_dir.path))


async def leave(core: Collaborators) -> None:
    """End the compressor of a gateway that ends."""
    compressor = _compressors.pop(id(core), None)
    if compressor is not None:
        await compressor.aclose()


async def _claim(file: IO[bytes]) -> None:
    """Lock the file for the process to come. Raises Conflict where one runs."""
    if sys.platform == "win32":
        raise Conflict("The compressor is not started on this system; start it by hand")
    until = monotonic() + CLAIM_LIMIT
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Somebody may only look at it, which is over at once.
            if monotonic() > until:
                raise Conflict("The compressor runs already") from None
            await asyncio.sleep(LOOK)
        else:
            return


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if name.startswith((OWN, "LC_")) or name in INHERITED
    }
