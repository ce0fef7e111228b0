"""Realtime sockets that stay open: most say nothing, some hold a conversation without a pause.

Memory of the gateway is printed at intervals. Nothing is to be refused, and no socket to be lost;
memory is to stay where it is once every conversation is as long as it gets.
"""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from .peers import OWN, filled
from .processes import Memory, cpu_seconds, memory
from .stage import RunningPeer, Stage

MODEL = "paced/bench"
OPENED_AT_ONCE = 50
ITEM = {"type": "conversation.item.create", "item": {"content": "How long does this take?"}}


class SocketLoad(Struct, kw_only=True):
    """What came of a run."""

    responses: int = 0
    refused: int = 0
    """Error events, and responses that did not complete."""
    lost: int = 0
    """Sockets that were closed by the gateway."""
    slowest: float = 0.0
    """Seconds of a response, of those since the last line."""

    def __str__(self) -> str:
        return f"{self.responses:,} responses, {self.refused} refused, {self.lost} sockets lost"


def hold(stage: Stage, *, idle: int, busy: int, seconds: float, every: float) -> SocketLoad:
    """Keep so many sockets open for so long, and print a line at each interval."""
    with stage.running_peer(OWN) as gateway:
        return asyncio.run(_hold(gateway, idle, busy, seconds, every))


async def _hold(
    gateway: RunningPeer, idle: int, busy: int, seconds: float, every: float
) -> SocketLoad:
    load = SocketLoad()
    async with AsyncExitStack() as stack:
        _print(0, gateway, load, "before")
        gate = asyncio.Semaphore(OPENED_AT_ONCE)

        async def opened() -> ClientConnection:
            async with gate:
                return await stack.enter_async_context(_socket(gateway))

        sockets = await asyncio.gather(*(opened() for _ in range(idle + busy)))
        begun = time.monotonic()
        _print(0, gateway, load, f"{len(sockets)} open")
        until = begun + seconds
        tasks = [asyncio.create_task(_listen(each, load)) for each in sockets[busy:]]
        talking = [asyncio.create_task(_talk(each, load, until)) for each in sockets[:busy]]
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(every, left))
            _print(time.monotonic() - begun, gateway, load, "")
        await asyncio.gather(*talking)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return load


def _socket(gateway: RunningPeer) -> connect:
    address = f"ws://127.0.0.1:{gateway.port}/v1/realtime?model={MODEL}"
    headers = {name: filled(text, gateway.words) for name, text in OWN.headers.items()}
    # Pings are the gateway's business here, and sockets are opened in crowds.
    return connect(
        address, additional_headers=headers, proxy=None, ping_interval=None, open_timeout=60
    )


async def _listen(socket: ClientConnection, load: SocketLoad) -> None:
    """An idle socket: its first event comes, and pings, which the library answers."""
    try:
        async for message in socket:
            load.refused += _event(message)["type"] == "error"
    except ConnectionClosed:
        pass
    load.lost += 1


async def _talk(socket: ClientConnection, load: SocketLoad, until: float) -> None:
    """Ask, and wait for the end of each response."""
    try:
        while (begun := time.monotonic()) < until:
            await socket.send(json.dumps(ITEM))
            await socket.send('{"type":"response.create"}')
            async for message in socket:
                event = _event(message)
                load.refused += event["type"] == "error"
                if event["type"] == "response.done":
                    load.refused += event["response"]["status"] != "completed"
                    load.responses += 1
                    load.slowest = max(load.slowest, time.monotonic() - begun)
                    break
    except ConnectionClosed:
        load.lost += 1


def _event(message: str | bytes) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(message)
    return event


def _print(seconds: float, gateway: RunningPeer, load: SocketLoad, note: str) -> None:
    here: Memory = memory(gateway.pid)
    used = cpu_seconds(gateway.pid)
    line = (
        f"{seconds:6.0f} s  {here.rss:7.1f} MiB (most {here.peak:.1f})  {used:6.1f} s of processor"
    )
    print(f"{line}  slowest {load.slowest:.2f} s  {load}  {note}".rstrip(), flush=True)
    load.slowest = 0.0
