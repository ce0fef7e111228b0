"""Prompt-cache breakpoints: at most four, and the long-lived ones first.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Raw

from gateway_core import Losses

from .._dialect import USUAL_LIFETIME

MOST = 4


def write_breakpoint(lifetime: str) -> dict[str, object]:
    if lifetime == USUAL_LIFETIME:
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": lifetime}


def limit_breakpoints(groups: Iterable[Iterable[object]], reserved: int, losses: Losses) -> None:
    """Take away the earliest breakpoints beyond the limit, in place.

    ``groups`` are the tools, the system blocks and each message's blocks, in the order in which
    the vendor reads them; ``reserved`` is the number that other members hold.
    """
    marked = [block for group in groups for block in _find_marked(group)]
    fixed = sum(1 for block in marked if isinstance(block, Raw))
    free = [block for block in marked if isinstance(block, dict)]
    # A late breakpoint caches everything before it, so the earliest ones are worth the least.
    beyond = max(0, len(free) - max(0, MOST - reserved - fixed))
    for block in free[:beyond]:
        del block["cache_control"]
    if beyond:
        losses.add("cache_control")
    # The vendor refuses a one-hour breakpoint behind a five-minute one.
    has_short = False
    for block in free[beyond:]:
        control = block["cache_control"]
        if not isinstance(control, dict):
            continue
        if has_short and control.get("ttl") == "1h":
            block["cache_control"] = {"type": "ephemeral"}
            losses.add("cache_control")
        has_short = has_short or control.get("ttl") != "1h"


def _find_marked(blocks: Iterable[object]) -> Iterator[dict[str, Any] | Raw]:
    for block in blocks:
        if isinstance(block, dict):
            content = block.get("content")
            if isinstance(content, list):
                yield from _find_marked(content)
            if "cache_control" in block:
                yield block
        elif isinstance(block, Raw) and b'"cache_control"' in bytes(block):
            yield block
