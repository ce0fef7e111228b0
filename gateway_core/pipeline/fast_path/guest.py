"""The express way before another program's server: the request's own task waits, once.

Such a server offers nothing but ASGI, so an attempt's answer is kept until the
task wakes and sends it. Streams and long answers are left to the pipeline, in
the same task, as soon as they mean something.
"""

import asyncio
import re
from collections.abc import Sequence

from ...contracts.asgi import App, Header, Message, Receive, Scope, Send
from .. import fast_path
from ..client_response import SLICE, WATCH_AFTER
from ..context import Core
from ..pipeline import infer
from ..request_head import RequestHead
from .attempt import Attempt

_wants_stream = re.compile(rb'"stream"\s*:\s*true').search
LONGEST = 6
"""Digits of the length of a body that comes in one piece."""


class Guests:
    """Those who wait; once they have waited for a while, somebody looks after their clients.

    One timer serves all of them: it runs while there is anybody.
    """

    def __init__(self) -> None:
        self._waiting: set[Guest] = set()
        self._old: set[Guest] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, guest: "Guest") -> None:
        self._waiting.add(guest)
        if self._timer is None:
            self._timer = guest.loop.call_later(WATCH_AFTER, self._look)

    def discard(self, guest: "Guest") -> None:
        self._waiting.discard(guest)
        self._old.discard(guest)

    def _look(self) -> None:
        """Watch who has been here since the last look, and come again if anybody waits."""
        old, self._old, self._waiting = self._old, self._waiting, set()
        self._timer = None
        for guest in old:
            guest.watch()
        if self._old:
            loop = next(iter(self._old)).loop
            self._timer = loop.call_later(WATCH_AFTER, self._look)


class Guest:
    """One request, whose answer or further way its task waits for."""

    __slots__ = ("_attempt", "_news", "_receive", "_watcher", "further", "heard", "loop", "told")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.loop = asyncio.get_running_loop()
        self._news: asyncio.Future[None] = self.loop.create_future()
        self._attempt: Attempt | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.heard: list[Message] = []
        """What its watcher took."""
        self.told: tuple[int, list[Header], bytes] | None = None
        """The whole answer."""
        self.further: App | None = None
        """What is to be done instead."""

    # What an attempt is offered.

    def reply(
        self, status: int, headers: Sequence[Header], body: bytes, ready: bytes = b""
    ) -> bool:
        if len(body) > SLICE or self._news.done():
            return False
        self.told = status, [*headers, *_read(ready)], body
        self._news.set_result(None)
        return True

    def open(self, headers: Sequence[Header], first: bytes, *, is_last: bool) -> bool:
        return False

    def push(self, piece: bytes) -> bool:
        return False

    def end(self, last: bytes) -> bool:
        return False

    def carry_on(self, app: App) -> None:
        self._attempt, self.further = None, app
        if not self._news.done():
            self._news.set_result(None)

    # What its task does.

    async def waits(self, attempt: Attempt, guests: Guests) -> None:
        """Wait for news; there is none when the client has left."""
        if self._news.done():
            return
        self._attempt = attempt
        guests.add(self)
        try:
            await self._news
        except asyncio.CancelledError:
            self._leave()
            raise
        finally:
            guests.discard(self)
            self._attempt = None
            if self._watcher is not None:
                self._watcher.cancel()
                await asyncio.wait((self._watcher,))

    def watch(self) -> None:
        """Notice from now on when the client leaves."""
        self._watcher = self.loop.create_task(self._watch_client())

    async def _watch_client(self) -> None:
        while not self.heard or self.heard[-1]["type"] != "http.disconnect":
            self.heard = [await self._receive()]
        if not self._news.done():
            self._leave()
            self._news.set_result(None)

    def _leave(self) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.leave()


async def serve(
    core: Core, guests: Guests, arrival: RequestHead, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve one request. Nothing that a client or a vendor does makes this raise."""
    length = arrival.headers.get("content-length", "")
    if not 0 < len(length) <= LONGEST or "expect" in arrival.headers:
        await infer(core, arrival, scope, receive, send)
        return
    message = await receive()
    heard, body = [message], message.get("body", b"")
    is_whole = str(len(body)) == length
    if is_whole and message.get("more_body"):
        is_whole = await _has_ended(receive, heard)
    if is_whole and not _streams(body):
        guest = Guest(receive)
        attempt = fast_path.begin(core, arrival, body, guest)
        if attempt is not None:
            await guest.waits(attempt, guests)
            if guest.further is not None:
                await guest.further(scope, _again(guest.heard, receive), send)
            elif guest.told is not None:
                await _tell(send, *guest.told)
            return
    await infer(core, arrival, scope, _again(heard, receive), send)


async def _has_ended(receive: Receive, heard: list[Message]) -> bool:
    """Whether nothing but its end comes behind a body that seems whole."""
    while heard[-1].get("more_body") and (len(heard) == 1 or not heard[-1].get("body")):
        heard.append(await receive())
    return heard[-1]["type"] == "http.request" and not heard[-1].get("body")


def _streams(body: bytes) -> bool:
    """Whether a stream may be wanted: it has nothing to gain here."""
    return b'"stream"' in body and _wants_stream(body) is not None


async def _tell(send: Send, status: int, headers: Sequence[Header], body: bytes) -> None:
    """Send a whole answer."""
    try:
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": body, "more_body": False})
    except OSError:
        return  # The client has left.


def _again(heard: list[Message], receive: Receive) -> Receive:
    """Hears what was heard before, and then the rest."""
    if not heard:
        return receive
    messages = iter(heard)

    async def hear() -> Message:
        message = next(messages, None)
        return await receive() if message is None else message

    return hear


def _read(lines: bytes) -> list[Header]:
    """Headers as they were written for HTTP/1.1."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n"))
    return [(name, value) for name, _, value in pairs if name]
