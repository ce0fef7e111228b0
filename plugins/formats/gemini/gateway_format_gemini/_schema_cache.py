"""Remembers rewritten schemas, which clients send again with every request."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

_LONGEST_KEPT = 1 << 14

Result = TypeVar("Result")


@lru_cache(maxsize=1024)
def rewrite_once(rewrite: Callable[[bytes], Any], schema: bytes) -> Any:
    return rewrite(schema)


def remember(rewrite: Callable[[bytes], Result], schema: bytes) -> Result:
    """The schema rewritten, by memory where it was rewritten before."""
    # Only short ones are kept, so that no client can fill the memory.
    if len(schema) > _LONGEST_KEPT:
        return rewrite(schema)
    result: Result = rewrite_once(rewrite, schema)
    return result
