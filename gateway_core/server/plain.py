"""Serving HTTP/1.1 by our own protocol, on either event loop, or by another server's."""

import asyncio
import socket
from collections.abc import Callable
from email.utils import formatdate
from time import time

from msgspec import Struct

from .cycle import Usual
from .door import App, Door, Make
from .fast import Fast
from .limits import Limits

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class Plain(Struct, frozen=True):
    """A way to serve HTTP/1.1, on the loop that ``loop`` makes."""

    name: str
    loop: LoopFactory
    speaking: Callable[[App, Door], Make]
    """Gives what makes this end of each connection."""

    async def serve(
        self,
        app: App,
        listener: socket.socket,
        stop: asyncio.Event,
        door: Door | None = None,
    ) -> None:
        door = door or Door(Limits())
        await door.attend(app, self.speaking(app, door), listener, stop)


def own(app: App, door: Door) -> Make:
    """Our own protocol."""
    usual = dated(door)
    return lambda: Fast(app, door, usual)


def dated(door: Door) -> Usual:
    """The headers of every answer at this door. The date is told anew at every tick."""
    usual = Usual()

    def tell_date() -> None:
        usual.tell((b"date", formatdate(time(), usegmt=True).encode()), *door.usual)

    door.ticks.append(tell_date)
    return usual
