"""Puts the management routes beside the gateway's own."""

from starlette.routing import BaseRoute

from gateway_core import hookimpl
from gateway_core.inference.core import Core

from .desk import Desk
from .routes import (
    availability,
    combos,
    connection_tests,
    connections,
    custom_models,
    model_tests,
    models,
    node_tests,
    nodes,
    settings,
    upstream_models,
    visibility,
)

_MODULES = (
    *(connection_tests, upstream_models, connections, node_tests, nodes, combos),
    *(models, availability, custom_models, visibility, model_tests, settings),
)


@hookimpl
def register_routes(gateway: Core) -> list[BaseRoute]:
    desk = Desk(gateway)
    return [route for module in _MODULES for route in module.routes(desk)]
