"""Serving on either event loop."""

import asyncio
import socket
from collections.abc import Callable
from email.utils import formatdate
from time import time

from msgspec import Struct

from .cycle import Usual
from .door import App, Door
from .fast import Fast
from .limits import Limits

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class Plain(Struct, frozen=True):
    """The gateway's own HTTP/1.1, on the loop that ``loop`` makes."""

    name: str
    loop: LoopFactory

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        usual = dated(door)
        await door.attend(app, lambda: Fast(app, door, usual), listener, stop)


def dated(door: Door) -> Usual:
    """The headers of every answer at this door. The date is told anew at every tick."""
    usual = Usual()

    def tell_date() -> None:
        usual.tell((b"date", formatdate(time(), usegmt=True).encode()), *door.usual)

    door.ticks.append(tell_date)
    return usual
