"""A gateway in a process of its own, started by its command."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fake_vendor import FakeVendor, Script

COMMAND = Path(sys.executable).parent / "model-gateway"


class Running:
    """A started gateway."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, printed: str) -> None:
        self.process = process
        self.url = url
        self.printed = printed

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait(20)


def start(data_dir: Path, *arguments: str, log: IO[str] | None = None, **variables: str) -> Running:
    """Start and wait until it reports its address. ``log`` takes its standard error."""
    environment = {**os.environ, "DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1", **variables}
    process = subprocess.Popen(
        [COMMAND, "--port", "0", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if '-d \'{"model"' in line:
            break
    address = re.search(r"https?://[0-9.:]+", printed)
    assert address is not None, printed
    return Running(process, address[0], printed)


@contextmanager
def running(
    data_dir: Path,
    *arguments: str,
    variables: Mapping[str, str] = {},
    log: IO[str] | None = None,
) -> Iterator[Running]:
    """A gateway that is stopped when the block ends, and must stop in order."""
    here = start(data_dir, *arguments, log=log, **variables)
    try:
        yield here
    finally:
        if here.process.poll() is None:
            here.process.send_signal(signal.SIGTERM)
            assert here.process.wait(20) == 0
        assert here.process.stdout is not None
        here.process.stdout.close()


@contextmanager
def vendor(script: Script) -> Iterator[FakeVendor]:
    """A fake vendor in a thread of its own, for gateways in other processes."""
    loop = asyncio.new_event_loop()
    here = FakeVendor(script)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(here.open(), loop).result(10)
    try:
        yield here
    finally:
        asyncio.run_coroutine_threadsafe(here.aclose(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
