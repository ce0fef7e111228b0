"""Clients that know which worker process they speak to."""

import time
from pathlib import Path
from typing import Any

import httpx2
import psutil
from custom_node import operator
from gateway_process import Running

WORKERS = 2


class Talk:
    """A client with one connection, and so with one worker."""

    def __init__(self, here: Running, data_dir: Path) -> None:
        self.http = operator(here, data_dir)
        self.ask("GET")
        self.worker = worker_of(here, self.http)

    def ask(self, method: str, body: Any = None) -> Any:
        response = self.http.request(method, "/api/settings", json=body)
        assert response.status_code == 200
        return response.json()


def workers(here: Running) -> list[psutil.Process]:
    return psutil.Process(here.process.pid).children()


def worker_of(here: Running, http: httpx2.Client) -> int:
    """The process at the other end of a client's connection."""
    mine = {each.laddr.port for each in psutil.Process().net_connections() if each.raddr}
    at = int(here.url.rpartition(":")[2])
    for process in workers(here):
        for each in process.net_connections():
            if each.raddr and each.laddr.port == at and each.raddr.port in mine:
                taken = (process.pid, each.raddr.port)
                if taken not in _seen:
                    _seen.add(taken)
                    return process.pid
    raise AssertionError("no worker has this connection")


_seen: set[tuple[int, int]] = set()


def one_each(here: Running, data_dir: Path) -> dict[int, Talk]:
    """One connection to each worker."""
    found: dict[int, Talk] = {}
    deadline = time.monotonic() + 30
    while len(found) < WORKERS:
        assert time.monotonic() < deadline
        talk = Talk(here, data_dir)
        if talk.worker in found:
            talk.http.close()
        else:
            found[talk.worker] = talk
    return found


def pids(here: Running) -> list[int]:
    return [process.pid for process in workers(here)]


def wait_for(reached: Any) -> float:
    """Poll until the condition holds, for half a minute at most; return the duration."""
    begun = time.monotonic()
    while not reached():
        assert time.monotonic() - begun < 30
        time.sleep(0.05)  # another process is what is waited for
    return time.monotonic() - begun
