"""Pictures that a web chat has made, kept in memory for a while so that a client can fetch them."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from secrets import token_hex
from typing import Any, Protocol

from msgspec import Struct

LIFETIME = 1800.0
"""Seconds."""
MOST = 25
MOST_BYTES = 10 * 1024 * 1024
_NAME = re.compile("[0-9a-f]{32}")
LARGEST = 8 * 1024 * 1024
"""Bytes of one picture; a larger one is not kept."""


class CachedImage(Struct, frozen=True):
    """A picture. ``context`` is for whoever has put it there, to go on with its conversation."""

    content: bytes
    media_type: str
    expires_at: float
    """On the cache's clock."""
    digest: str
    """SHA-256 of the content."""
    context: Any = None


class SharedContents(Protocol):
    """The part of ``gateway_core.SharedState`` that is used here."""

    def keep(self, name: str, content: bytes, seconds: float) -> None: ...
    def discard(self, name: str) -> None: ...
    async def find(self, name: str) -> bytes | None: ...


class ImageCache:
    """The latest pictures, by opaque ids. The oldest leave first.

    ``shared`` gives what several gateways have in common, if there is such a thing: each
    finds the pictures of all there, but goes on only with conversations of its own.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        most_bytes: int = MOST_BYTES,
        shared: Callable[[], SharedContents | None] = lambda: None,
    ) -> None:
        self._clock = clock
        self.most_bytes, self.shared = most_bytes, shared
        self._images: OrderedDict[str, CachedImage] = OrderedDict()
        self._size = 0

    def put(self, content: bytes, media_type: str, context: Any = None) -> str | None:
        """Keep a picture and give its id; ``None`` for one that is too large."""
        if len(content) > min(LARGEST, self.most_bytes):
            return None
        self._expire()
        shared = self.shared()
        while self._images and (
            len(self._images) >= MOST or self._size + len(content) > self.most_bytes
        ):
            oldest = next(iter(self._images))
            self._drop(oldest)
            if shared is not None:
                shared.discard(_shared_name(oldest))
        name = token_hex(16)
        digest = sha256(content).hexdigest()
        expires_at = self._clock() + LIFETIME
        self._images[name] = CachedImage(content, media_type, expires_at, digest, context)
        self._size += len(content)
        if shared is not None:
            shared.keep(_shared_name(name), media_type.encode() + b"\n" + content, LIFETIME)
        return name

    def find(self, name: str) -> CachedImage | None:
        """The picture of an id, unless it is gone."""
        self._expire()
        return self._images.get(name)

    async def find_anywhere(self, name: str) -> CachedImage | None:
        """The picture of an id, also if another gateway has it."""
        image, shared = self.find(name), self.shared()
        if image is not None or shared is None or not _NAME.fullmatch(name):
            return image
        packed = await shared.find(_shared_name(name))
        if packed is None:
            return None
        media_type, _, content = packed.partition(b"\n")
        digest = sha256(content).hexdigest()
        return CachedImage(content, media_type.decode(), self._clock() + LIFETIME, digest)

    def find_content(self, content: bytes) -> CachedImage | None:
        """The picture with this content, as when a client sends it back to be edited."""
        self._expire()
        digest = sha256(content).hexdigest()
        return next((each for each in self._images.values() if each.digest == digest), None)

    def _expire(self) -> None:
        now = self._clock()
        while self._images:
            name, image = next(iter(self._images.items()))
            if image.expires_at > now:
                return
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._size -= len(self._images.pop(name).content)


def _shared_name(name: str) -> str:
    return f"image:{name}"


IMAGES = ImageCache()
"""The pictures of this process."""
