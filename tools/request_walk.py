"""Prints the modules of the kernel that one request enters, in order.

``python tools/request_walk.py`` asks the vendor ``echo`` through the asyncio pipeline, in
process, and follows the calls from the request's head to its row in the ledger. A line is a
module and the functions entered in it until another module is entered. A module that was left
and is entered again counts as a return: a reader has to go back there too.
"""

import asyncio
import sys
import tempfile
from asyncio import current_task
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ

ROOT = Path(__file__).parent.parent / "gateway_core"
BODY = b'{"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}'
WARM_UP = 2
"""Requests before the one that is followed: what is cached by then is not part of its way."""

FOLLOWED = 3
"""Requests that are followed; the shortest way is the one that is printed."""


class Stop(NamedTuple):
    """One module, and what is entered in it."""

    module: str
    functions: tuple[str, ...]


class Recorder:
    """Takes the functions of the kernel in the order in which they are first entered."""

    def __init__(self) -> None:
        # What timers and other tasks do meanwhile is not on the request's way.
        self._task = current_task()
        self.entries: list[tuple[str, str]] = []
        self._frames: list[FrameType] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(str(ROOT)):
            return
        # A coroutine that goes on is reported as a call once more.
        if frame not in self._frames and current_task() is self._task:
            self._frames.append(frame)
            module = str(Path(path).relative_to(ROOT).with_suffix(""))
            self.entries.append((module.removesuffix("/__init__"), frame.f_code.co_name))

    def stops(self) -> list[Stop]:
        return [
            Stop(module, tuple(name for _, name in group))
            for module, group in groupby(self.entries, key=lambda entry: entry[0])
        ]


async def ask(app: Any) -> int:
    """Send one request by ASGI, and return its status."""
    status = 0
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "query_string": b"",
        "headers": [*headers, (b"content-length", b"%d" % len(BODY))],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    await app(scope, receive, send)
    return status


async def walk() -> list[Stop]:
    """The way of one request. Raises RuntimeError where it is not answered."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {"DATA_DIR": folder, "API_KEY_SECRET": "a secret for this run alone"}
        async with Gateway.open(from_environ(variables)) as gateway:
            for _ in range(WARM_UP):
                await ask(gateway.app)
            # A second that begins meanwhile is written anew: its text is kept for a second.
            return min([await follow(gateway.app) for _ in range(FOLLOWED)], key=len)


async def follow(app: Any) -> list[Stop]:
    """The way of the next request. Raises RuntimeError where it is not answered."""
    recorder = Recorder()
    sys.setprofile(recorder)
    try:
        status = await ask(app)
    finally:
        sys.setprofile(None)
    if status != 200:
        raise RuntimeError(f"the request was answered with {status}")
    return recorder.stops()


def returns(stops: list[Stop]) -> int:
    """How often a module is entered that was left before."""
    return len(stops) - len({stop.module for stop in stops})


def report(stops: list[Stop]) -> Iterator[str]:
    seen: set[str] = set()
    for stop in stops:
        mark = "*" if stop.module in seen else " "
        seen.add(stop.module)
        yield f"{mark} {stop.module:40} {', '.join(stop.functions)}"
    yield f"{len(seen)} modules, {returns(stops)} returns (*)"


if __name__ == "__main__":
    print("\n".join(report(asyncio.run(walk()))))
