"""A gateway whose terminal is closed: it stops in order, except under nohup."""

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from custom_node import add_node
from gateway_process import COMMAND, Running, vendor
from streaming_clients import STREAMS, StreamingClients, slow, statuses

IN_TERMINAL = """
import fcntl, os, signal, sys, termios
if sys.argv[1] == "nohup":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[2], sys.argv[2:])
"""
WORKERS = ["1", "2"]


class Terminal:
    """A terminal with a gateway in the foreground."""

    def __init__(self, master: int, here: Running) -> None:
        self.master, self.here = master, here

    def close(self) -> None:
        os.close(self.master)
        self.master = -1


@contextmanager
def terminal(data_dir: Path, workers: str, how: str = "plainly") -> Iterator[Terminal]:
    """A gateway with a terminal of its own, stopped when the block ends."""
    master, slave = pty.openpty()
    serve = [str(COMMAND), "--port", "0", "--workers", workers, "--data-dir", str(data_dir)]
    process = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, how, *serve],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        text=True,
    )
    os.close(slave)
    with ExitStack() as stack:
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        shown = Terminal(master, Running(process, *_told(master)))
        yield shown
        if shown.master >= 0:
            shown.close()


def _told(master: int) -> tuple[str, str]:
    """Its address, and its output up to the request to try."""
    printed = b""
    while b'-d \'{"model"' not in printed:
        printed += os.read(master, 4096)
    address = re.search(rb"http://[0-9.:]+", printed)
    assert address is not None, printed
    return address[0].decode(), printed.decode()


@pytest.mark.parametrize("workers", WORKERS)
def test_a_closed_terminal_lets_streams_finish_and_loses_no_row(
    tmp_path: Path, workers: str
) -> None:
    with vendor(slow) as lab, terminal(tmp_path, workers) as shown, ExitStack() as stack:
        add_node(shown.here, tmp_path, lab)
        clients = StreamingClients(shown.here, stack)

        shown.close()
        rest = clients.rest()
        code = shown.here.process.wait(15)

    assert all(b"[DONE]" in each for each in rest)
    assert statuses(tmp_path) == ["ok"] * STREAMS
    assert code == 0


@pytest.mark.parametrize("workers", WORKERS)
def test_under_nohup_it_keeps_serving(tmp_path: Path, workers: str) -> None:
    with terminal(tmp_path, workers, "nohup") as shown:
        shown.close()
        time.sleep(0.3)  # as long as a stop without requests would take
        answer = httpx2.get(f"{shown.here.url}/api/health", trust_env=False)

    assert answer.json()["ok"] is True
