"""The right of one of the processes on a data directory to change which database is served.

See ``gateway_core/storage/agreement.py`` for what the others do meanwhile, and after it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gateway_core.config.data_dir import PRIVATE_FILE, lock_exclusively
from gateway_core.contracts.errors import GatewayError
from gateway_core.storage.agreement import CHANGE, LOOK_AGAIN, SERVED, Served
from gateway_core.storage.switchable import SwitchableDatabase

ATTEMPTS = 10
"""How often the right is tried for: who only looks at it has it for a moment."""
PATIENCE = 60.0
"""Seconds in which the writes of other processes are to end."""
_SIZE = 256
"""Bytes that say how far a change is, written over in place."""


class Busy(GatewayError):
    status = 503
    code = "database_change_in_progress"

    def __init__(self) -> None:
        super().__init__("database cutover in progress")


class WritesGoOn(GatewayError):
    code = "writes_do_not_end"

    def __init__(self) -> None:
        super().__init__(f"A write of another process has not ended in {PATIENCE:.0f} s")


class Turn:
    """This process's, whether it has it or not."""

    def __init__(self, database: SwitchableDatabase) -> None:
        self._database = database
        self._file: int | None = None
        self._progress: Mapping[str, Any] = {}

    @property
    def is_taken(self) -> bool:
        """Whether a process has it."""
        agreement = self._database.agreement
        if agreement is None:
            return False
        with agreement.unchanging() as is_unchanging:
            return not is_unchanging

    @property
    def progress(self) -> Mapping[str, Any]:
        """How far the change is that is under way, in any process."""
        agreement = self._database.agreement
        if agreement is None or not self.is_taken:
            return self._progress
        text = (agreement.folder / CHANGE).read_bytes()
        try:
            progress: Mapping[str, Any] = msgspec.json.decode(text)
        except msgspec.MsgspecError:  # It is just being written.
            return {}
        return progress

    def note(self, **progress: Any) -> None:
        """Say how far this process is."""
        self._progress = progress
        if self._file is not None:
            os.pwrite(self._file, msgspec.json.encode(progress).ljust(_SIZE), 0)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Have it while the block runs. Raises Busy."""
        if self._database.agreement is None:
            yield
            return
        self._file = await self._take()
        try:
            self.note()
            yield
        finally:
            os.close(self._file)
            self._file = None

    @asynccontextmanager
    async def alone(self, at: str) -> AsyncIterator[None]:
        """Keep every process from writing while the block runs, for a change that is named by
        its time; afterwards each of them serves what this one does. Raises WritesGoOn."""
        database, agreement = self._database, self._database.agreement
        async with database.paused():
            if agreement is None:
                yield
                return
            before = database.current
            served = Served(engine=database.engine, switch=agreement.switch)
            file = _open(agreement.folder / SERVED)
            try:
                # From here on no process begins a write, so that those under way come to an end.
                agreement.say(replace(served, change=at))
                try:
                    await _lock(file)
                    yield
                except Exception:
                    agreement.say(served)
                    agreement.take(served.switch)
                    raise
                # A change that is broken off otherwise stays marked: others look what became of it.
                if database.current is not before:
                    served = Served(engine=database.engine, switch=served.switch + 1)
                agreement.say(served)
                agreement.take(served.switch)
            finally:
                os.close(file)

    async def _take(self) -> int:
        agreement = self._database.agreement
        assert agreement is not None
        for _ in range(ATTEMPTS):
            await self._database.follow()
            file = _open(agreement.folder / CHANGE)
            try:
                lock_exclusively(file)
                if agreement.is_current:
                    return file
            except BlockingIOError:
                pass
            os.close(file)
            await asyncio.sleep(LOOK_AGAIN)
        raise Busy


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)


async def _lock(file: int) -> None:
    """Lock a file alone, once nobody else has it locked. Raises WritesGoOn."""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    lock_exclusively(file)
                    return
                except BlockingIOError:
                    await asyncio.sleep(LOOK_AGAIN)
    except TimeoutError:
        raise WritesGoOn from None
