"""Serving on either event loop."""

import asyncio
import socket
from collections.abc import Callable
from email.utils import formatdate
from time import time

from msgspec import Struct

from .cycle import Usual, lines
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
        usual = Usual()
        """The date is told anew at every tick."""

        def tell_date() -> None:
            date = formatdate(time(), usegmt=True).encode()
            usual.lines = lines([(b"date", date), *door.usual])

        door.ticks.append(tell_date)
        await door.attend(app, lambda: Fast(app, door, usual), listener, stop)
