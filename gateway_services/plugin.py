"""Registers the endpoints of embeddings, media, search and decisions."""

from gateway_core import WireFormat, hookimpl

from .endpoints import SERVICES

GATEWAY_PROTOCOL = 1


@hookimpl
def register_formats() -> list[WireFormat]:
    return [SERVICES]
