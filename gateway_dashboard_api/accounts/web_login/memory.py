"""What a plugin remembers of one assisted login, between requests that any gateway may serve."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core.contracts.errors import PluginBroken

LONGEST = 64 * 1024
"""Bytes, as they are stored."""
_ABSENT = object()
_decoder = msgspec.msgpack.Decoder(dict[str, Any])


def read_memory(stored: bytes) -> dict[str, Any]:
    """Return a new memory; empty at first."""
    return _decoder.decode(stored) if stored else {}


def write_memory(memory: Mapping[str, Any]) -> bytes:
    """Encode a memory. Raises PluginBroken for what cannot be stored."""
    try:
        stored = msgspec.msgpack.encode(memory)
        _decoder.decode(stored)
    except (TypeError, ValueError, RecursionError, OverflowError, msgspec.MsgspecError) as error:
        raise PluginBroken("The plugin remembers something that cannot be stored.") from error
    if len(stored) > LONGEST:
        raise PluginBroken(f"The plugin remembers more than {LONGEST} bytes.")
    return stored


def apply_changes(
    now: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``now`` with what differs between ``before`` and ``after``, in mappings too."""
    changed = dict(now)
    for name in before.keys() - after.keys():
        changed.pop(name, None)
    for name, value in after.items():
        old, current = before.get(name, _ABSENT), now.get(name)
        if value == old:
            continue
        if isinstance(value, dict) and isinstance(old, dict) and isinstance(current, dict):
            value = apply_changes(current, old, value)
        changed[name] = value
    return changed
