"""Registers the endpoints of embeddings, media, search and decisions."""

from gateway_core import WireFormat, hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from . import images
from .endpoints import SERVICES

GATEWAY_PROTOCOL = 1


@hookimpl
def register_formats() -> list[WireFormat]:
    return [SERVICES]


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return images.routes()
