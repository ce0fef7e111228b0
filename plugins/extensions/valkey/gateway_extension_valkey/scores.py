"""The scores of accounts: each process sends what it has added, and hears the sums of all.

One script in the server adds changes up and publishes what came out, so that every process
hears the same sums in the same order. Nobody waits for it: changes leave in the background, a
few times a second at most, those of one account and model as one.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha1
from itertools import islice
from typing import Any

import msgspec
from redis.asyncio import Redis

from gateway_core import AccountScore

from .link import Away

PAUSE = 0.2
"""Seconds between two messages of one process."""
AT_ONCE = 1000
"""Scores in one message."""
MOST = 5000
"""Scores that are known, here and in the server; those that were changed first go."""
LIFETIME = 3600
"""Seconds after the last change until the server forgets them."""

SCRIPT = f"""
local scores, order, version, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local heard = {{}}
-- Each is a name, the score without the change, and the change. The first one counts only where
-- the server knows none, because it was started anew.
for i = 2, #ARGV, 3 do
    local name, change = ARGV[i], tonumber(ARGV[i + 2])
    local before = tonumber(redis.call('HGET', scores, name) or ARGV[i + 1])
    local score = math.min(math.max(before + change, 0), 100)
    redis.call('HSET', scores, name, score)
    redis.call('ZADD', order, redis.call('INCR', version), name)
    heard[#heard + 1] = {{name, score}}
end
local extra = redis.call('ZCARD', order) - {MOST}
if extra > 0 then
    for _, name in ipairs(redis.call('ZRANGE', order, 0, extra - 1)) do
        redis.call('HDEL', scores, name)
        redis.call('ZREM', order, name)
    end
end
for _, key in ipairs(KEYS) do
    redis.call('EXPIRE', key, {LIFETIME})
end
redis.call('PUBLISH', channel, cjson.encode(heard))
"""
# Names the script, as EVALSHA wants it; no protection hangs on it.
NAME_OF_SCRIPT = sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()

Send = Callable[..., Awaitable[Any]]
Name = tuple[str, str]
"""An account and a model."""
Entry = tuple[Name, float, float]
"""A name, its score, and how much of that the server does not know."""
Command = tuple[str | int | float, ...]

_read_name = msgspec.json.Decoder(Name).decode
_read_heard = msgspec.json.Decoder(list[tuple[str, float]]).decode


class Scores:
    """What all processes have added, and what this one has not sent yet."""

    def __init__(self, prefix: str) -> None:
        self.channel = f"{prefix}:scores:changes"
        # One slot of a cluster, see https://valkey.io/topics/cluster-spec/ on hash tags.
        base = f"{{{prefix}:scores}}"
        self._keys = (base, f"{base}:order", f"{base}:version")
        self._known: OrderedDict[Name, float] = OrderedDict()
        """With the changes of this process."""
        self._changes: dict[Name, float] = {}
        self._due = asyncio.Event()
        self.adopt: Callable[[AccountScore], None] = lambda score: None

    def publish(self, score: AccountScore) -> None:
        name = (score.account, score.model)
        self._keep(name, score.score)
        self._changes[name] = self._changes.get(name, 0.0) + score.change
        self._due.set()

    def hear(self, message: bytes) -> None:
        """Take up the sums that the script has published."""
        try:
            heard = _read_heard(message)
        except msgspec.DecodeError:  # Of a gateway of another version.
            return
        for text, score in heard:
            self._take(text, score)

    async def run(self, call: Send) -> None:
        """Send changes while the server answers; what it does not take waits until it is back."""
        while True:
            await self._due.wait()
            self._due.clear()
            with suppress(Away):
                await self._send(call, list(islice(self._changes, AT_ONCE)))
            await asyncio.sleep(PAUSE)
            if self._changes:
                self._due.set()

    async def join(self, client: Redis) -> None:
        """Adopt what the server knows, and send what it does not."""
        await client.script_load(SCRIPT)
        stored: Any = await client.hgetall(self._keys[0])
        theirs = {text.decode() for text in stored}
        for text, score in stored.items():
            self._take(text.decode(), float(score))
        missing = iter(
            [name for name in self._known if name in self._changes or _text(name) not in theirs]
        )
        while names := list(islice(missing, AT_ONCE)):
            await self._send(client.execute_command, names)

    async def _send(self, send: Send, names: Iterable[Name]) -> None:
        """Send scores with what is new in them, which is taken back where that fails."""
        entries = [
            (name, self._known[name], self._changes.pop(name, 0.0))
            for name in names
            if name in self._known
        ]
        try:
            if entries:
                await send(*self._command(entries))
        except BaseException:
            for name, _, change in entries:
                if name in self._known:
                    self._changes[name] = self._changes.get(name, 0.0) + change
            raise

    def _command(self, entries: Iterable[Entry]) -> Command:
        """The command that runs the script."""
        flat = _flatten(entries)
        return ("EVALSHA", NAME_OF_SCRIPT, len(self._keys), *self._keys, self.channel, *flat)

    def _take(self, text: str, score: float) -> None:
        with suppress(msgspec.DecodeError):
            name = _read_name(text)
            # What was not sent yet is not in the sum.
            score = min(max(score + self._changes.get(name, 0.0), 0.0), 100.0)
            if self._known.get(name) != score:
                self._keep(name, score)
                self.adopt(AccountScore(name[0], name[1], score))

    def _keep(self, name: Name, score: float) -> None:
        self._known[name] = score
        self._known.move_to_end(name)
        if len(self._known) > MOST:
            self._changes.pop(self._known.popitem(last=False)[0], None)


def _flatten(entries: Iterable[Entry]) -> Iterator[str | float]:
    for name, score, change in entries:
        yield from (_text(name), score - change, change)


def _text(name: Name) -> str:
    return msgspec.json.encode(name).decode()
