"""Registers the endpoints of embeddings, media, search and decisions."""

from gateway_core import WireFormat, hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host
from gateway_providers.image_cache import IMAGES

from . import images
from .endpoints import services
from .settings import Settings

GATEWAY_PROTOCOL = 1
MIB = 1024 * 1024


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


@hookimpl
def register_formats(settings: Settings) -> list[WireFormat]:
    return [services(settings)]


@hookimpl
def register_routes(host: Host, settings: Settings) -> list[Guarded]:
    IMAGES.most_bytes = settings.image_cache_mb * MIB
    IMAGES.shared = lambda: host.core.snapshot.registry.shared_state
    return images.routes()
