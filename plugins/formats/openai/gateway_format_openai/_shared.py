"""Members of a reply that keep their meaning for every client of this dialect."""

from collections.abc import Mapping

from msgspec import Raw

SHARED = ("service_tier", "system_fingerprint")
"""Members of a reply that are kept whether it is whole or streamed."""

TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
"""The service tiers that clients of this dialect know."""


def shared_members(extra: Mapping[str, Raw]) -> dict[str, Raw]:
    """What a reply's unknown members say to any client of this dialect."""
    shared = {name: extra[name] for name in SHARED if name in extra}
    return known_tier(shared)


def known_tier(extra: Mapping[str, Raw]) -> dict[str, Raw]:
    """The members without a service tier that typed clients would refuse."""
    left = dict(extra)
    tier = left.get("service_tier")
    if tier is not None and bytes(tier).decode(errors="replace").strip('"') not in TIERS:
        del left["service_tier"]
    return left
