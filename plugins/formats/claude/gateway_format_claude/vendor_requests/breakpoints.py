"""Prompt-cache breakpoints: at most four, and the long-lived ones first."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Raw

from gateway_core import Losses

MOST = 4


def limit_breakpoints(groups: Iterable[Iterable[object]], reserved: int, losses: Losses) -> None:
    """Take away the earliest breakpoints beyond the limit, in place.

    ``groups`` are the tools, the system blocks and each message's blocks, in
    the order the vendor reads them; ``reserved`` are kept for others.
    """
    marked = [block for group in groups for block in _marked(group)]
    fixed = sum(1 for block in marked if isinstance(block, Raw))
    free = [block for block in marked if isinstance(block, dict)]
    beyond = max(0, len(free) - max(0, MOST - reserved - fixed))
    for block in free[:beyond]:
        del block["cache_control"]
    if beyond:
        losses.add("cache_control")
    _shorten(free[beyond:], losses)


def _marked(blocks: Iterable[object]) -> Iterator[dict[str, Any] | Raw]:
    for block in blocks:
        if isinstance(block, dict):
            content = block.get("content")
            if isinstance(content, list):
                yield from _marked(content)
            if "cache_control" in block:
                yield block
        elif isinstance(block, Raw) and b'"cache_control"' in bytes(block):
            yield block


def _shorten(marked: list[dict[str, Any]], losses: Losses) -> None:
    """The vendor refuses a one-hour breakpoint behind a five-minute one."""
    short_seen = False
    for block in marked:
        control = block["cache_control"]
        if not isinstance(control, dict):
            continue
        if short_seen and control.get("ttl") == "1h":
            block["cache_control"] = {"type": "ephemeral"}
            losses.add("cache_control")
        short_seen = short_seen or control.get("ttl") != "1h"
