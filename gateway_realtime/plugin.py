"""Registers the realtime socket."""

from gateway_core import hookimpl
from gateway_core.http.operations import Guarded
from gateway_core.pipeline.plugin_host import Host

from . import routes

GATEWAY_PROTOCOL = 1


@hookimpl
def register_routes(host: Host) -> list[Guarded]:
    return routes.routes(host.core)
