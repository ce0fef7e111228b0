"""Finds kept answers to questions that mean the same."""

import logging
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from math import sqrt
from operator import mul

import msgspec
from msgspec import Struct

from gateway_core import GatewayError
from gateway_filters.plugin_gateway import PluginGateway
from gateway_filters.shelf import Shelf

from .settings import Settings

TIMEOUT = 10.0
"""Seconds for an embedding."""
MOST = 64
"""Questions that one is compared with: the last ones."""
NOTE = "cache: compares questions"

log = logging.getLogger(__name__)


class Asked(Struct, frozen=True):
    """A question whose answer is kept."""

    name: str
    """Of its answer."""
    vector: str
    """Of length 1; 32-bit floats in base64."""


class Compared(Struct, frozen=True):
    """A question among those that differ from it in the last text only."""

    group: str
    """The name under which they are kept."""
    vector: "array[float]"
    asked: tuple[Asked, ...]
    """Most recent last."""

    def best(self) -> tuple[str, float]:
        """The name of the nearest one's answer, and how near it is; 0 where there is none."""
        near = ((each.name, _cosine(self.vector, each.vector)) for each in self.asked)
        return max(near, key=lambda pair: pair[1], default=("", 0.0))


async def compare(
    gateway: PluginGateway, shelf: Shelf, settings: Settings, group: str, text: str
) -> Compared | None:
    """``None`` where the text cannot be compared."""
    try:
        numbers = await gateway.embed(settings.embedding_model, text, timeout=TIMEOUT, note=NOTE)
    except (GatewayError, TimeoutError) as error:
        log.warning("a question cannot be compared: %s", type(error).__name__)
        return None
    length = sqrt(sum(map(mul, numbers, numbers)))
    if not length:
        return None
    vector = array("f", [number / length for number in numbers])
    return Compared(group, vector, await _asked(shelf, group))


async def remember(shelf: Shelf, settings: Settings, compared: Compared, name: str) -> None:
    """Have similar questions find this one's answer."""
    # Others may have been added since it was compared.
    before = (each for each in await _asked(shelf, compared.group) if each.name != name)
    asked = (*before, Asked(name, b64encode(compared.vector.tobytes()).decode()))[-MOST:]
    text = msgspec.json.encode(asked).decode()
    most = settings.max_megabytes * 1024 * 1024
    await shelf.keep(compared.group, text, seconds=settings.ttl_seconds, most=most)


async def _asked(shelf: Shelf, group: str) -> tuple[Asked, ...]:
    text = await shelf.find(group)
    if text is None:
        return ()
    try:
        return msgspec.json.decode(text, type=tuple[Asked, ...])
    except msgspec.DecodeError:
        return ()


def _cosine(vector: Sequence[float], other: str) -> float:
    theirs = array("f")
    theirs.frombytes(b64decode(other))
    # Another model's vectors have another length.
    return sum(map(mul, vector, theirs)) if len(theirs) == len(vector) else 0.0
