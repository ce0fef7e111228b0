"""The rests of accounts: kept in one hash of the server, and published to the gateways that run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from time import time
from typing import Any

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from gateway_core import AccountRest

Post = Callable[..., None]


class _Published(Struct, frozen=True, array_like=True):
    sender: str
    rest: AccountRest


_read_rest = msgspec.json.Decoder(AccountRest).decode
_read_published = msgspec.json.Decoder(_Published).decode


class Rests:
    """What this process has published, or has from others."""

    def __init__(self, prefix: str, process: str, post: Post) -> None:
        self.channel = f"{prefix}:rests:changes"
        self._key = f"{prefix}:rests"
        self._process, self._post = process, post
        self._known: dict[str, AccountRest] = {}
        """By field of the hash; those that have ended too, until they are forgotten."""
        self.adopt: Callable[[AccountRest], None] = lambda rest: None

    def publish(self, rest: AccountRest) -> None:
        self._known[_field(rest)] = rest
        self._store(rest)
        self._post("PUBLISH", self.channel, self._message(rest))

    def hear(self, message: bytes) -> None:
        """Take up what another gateway has published."""
        try:
            published = _read_published(message)
        except msgspec.DecodeError:  # Of a gateway of another version.
            return
        if published.sender != self._process:
            self._take(published.rest)

    async def join(self, client: Redis) -> None:
        """Bring this process and the server up to date; who has the later end is right."""
        stored: Any = await client.hgetall(self._key)
        theirs = dict(_readable(stored))
        mine = dict(self._known)
        for field, rest in theirs.items():
            if field not in mine or mine[field].until < rest.until:
                self._take(rest)
        for field, rest in mine.items():
            if rest.until > time() and (field not in theirs or theirs[field].until < rest.until):
                await client.hset(self._key, field, msgspec.json.encode(rest))
                # For those that have joined before.
                await client.publish(self.channel, self._message(rest))

    def forget_past(self) -> None:
        """Drop the rests that are over."""
        now = time()
        past = [field for field, rest in self._known.items() if rest.until <= now]
        for field in past:
            del self._known[field]
        if past:
            self._post("HDEL", self._key, *past)

    def _store(self, rest: AccountRest) -> None:
        if rest.until > time():
            self._post("HSET", self._key, _field(rest), msgspec.json.encode(rest))
        else:
            self._post("HDEL", self._key, _field(rest))

    def _message(self, rest: AccountRest) -> bytes:
        return msgspec.json.encode(_Published(self._process, rest))

    def _take(self, rest: AccountRest) -> None:
        self._known[_field(rest)] = rest
        self.adopt(rest)


def _readable(stored: Mapping[bytes, bytes]) -> Iterator[tuple[str, AccountRest]]:
    for field, value in stored.items():
        with suppress(msgspec.DecodeError):  # Of a gateway of another version.
            yield field.decode(), _read_rest(value)


def _field(rest: AccountRest) -> str:
    return f"{rest.account} {rest.model}"
