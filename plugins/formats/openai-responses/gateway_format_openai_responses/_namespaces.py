"""Tools grouped in a namespace, sent to other vendors as plain functions.

An agent program declares the tools of each of its servers as one ``namespace``
and wants calls back with ``name`` and ``namespace`` apart. No other dialect
has the idea, so in the hub every such tool has a flat name, and its
declaration keeps both parts for the way back.
"""

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct

from gateway_core import Tool

from ._dialect import BROKEN, DIALECT

LONGEST = 64
"""Characters of a tool's name that every vendor accepts."""


class NamespacedTool(Struct, tag_field="type", tag="namespaced"):
    """What a flat tool's ``raw`` holds."""

    namespace: str
    description: str | None
    name: str
    tool: Raw


_grouped = msgspec.json.Decoder(NamespacedTool)
_encode = msgspec.json.Encoder().encode


def flat_name(namespace: str, name: str) -> str:
    # Names of tool servers already end in two underscores in some agent programs.
    joint = "" if namespace.endswith("__") else "__"
    flat = f"{namespace}{joint}{name}"
    if len(flat) <= LONGEST:
        return flat
    return f"{flat[: LONGEST - 9]}_{hashlib.sha256(flat.encode()).hexdigest()[:8]}"


def declaration(namespace: str, description: str | None, name: str, tool: Raw) -> Raw:
    return Raw(_encode(NamespacedTool(namespace, description, name, tool)))


def namespaced_tool(tool: Tool) -> NamespacedTool | None:
    """Where a tool stood, when it stood in a namespace."""
    # The tag stands first in our own encoding, so most tools need no decoding.
    if tool.raw is None or tool.dialect != DIALECT or b'"namespaced"' not in bytes(tool.raw)[:32]:
        return None
    try:
        return _grouped.decode(tool.raw)
    except BROKEN:
        return None


def namespaced_names(tools: Iterable[Tool]) -> dict[str, tuple[str, str]]:
    """Flat names to the namespace and the name within it."""
    groups = ((tool.name, namespaced_tool(tool)) for tool in tools if tool.raw is not None)
    return {flat: (group.namespace, group.name) for flat, group in groups if group is not None}
