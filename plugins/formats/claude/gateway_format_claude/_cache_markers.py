"""Prompt-cache breakpoints on single blocks and tools, both ways."""

from ._dialect import Extra
from ._members import Members, members

USUAL = "5m"
"""What the vendor takes when a breakpoint names no lifetime."""


def read_marker(holder: Members) -> tuple[str | None, Extra]:
    """The breakpoint's lifetime, and the members of its holder that nobody has taken.

    A marker that says more than its lifetime is kept whole among the members.
    """
    marker = holder.take("cache_control")
    rest = holder.rest()
    if marker is None:
        return None, rest
    control = members(marker, holder.path("cache_control"))
    control.take("type")
    lifetime = control.text("ttl") or USUAL
    return lifetime, {**rest, "cache_control": marker} if control.rest() else rest


def written_marker(lifetime: str) -> dict[str, object]:
    return {"type": "ephemeral"} if lifetime == USUAL else {"type": "ephemeral", "ttl": lifetime}
