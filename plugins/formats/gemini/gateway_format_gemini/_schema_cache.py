"""Remembers rewritten schemas, which clients send again with every request."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

_LONGEST_KEPT = 1 << 14

Made = TypeVar("Made")


@lru_cache(maxsize=1024)
def _remembered(work: Callable[[bytes], Any], schema: bytes) -> Any:
    return work(schema)


def remembered(work: Callable[[bytes], Made], schema: bytes) -> Made:
    """What comes of a schema; clients send the same ones with every request.

    Only short ones are kept, so that no client can fill the memory.
    """
    if len(schema) > _LONGEST_KEPT:
        return work(schema)
    made: Made = _remembered(work, schema)
    return made
