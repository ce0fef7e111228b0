"""The hooks a plugin may implement. Each is called once, while the gateway starts."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    import click

    from .contracts.interceptor import Interceptor
    from .contracts.provider import ProviderSpec
    from .contracts.wire import WireFormat
    from .inference.core import Core
    from .surfaces.operation import Guarded

hookspec = HookspecMarker("model_gateway")
hookimpl = HookimplMarker("model_gateway")


@hookspec
def register_formats() -> Iterable[WireFormat]:
    """Wire formats this plugin speaks.

    Called first. Of two formats with one id the first stays; the other is a
    recorded problem that names both plugins.
    """


@hookspec
def register_providers() -> Iterable[ProviderSpec]:
    """Vendors this plugin brings.

    Called after formats, so a provider that names an unknown format can be
    reported and set aside without stopping the others.
    """


@hookspec
def register_interceptors() -> Iterable[Interceptor]:
    """Objects that stand on the path of every inference call.

    Called after formats and providers. With none installed the path costs nothing.
    """


@hookspec
def register_routes(gateway: Core) -> Iterable[Guarded]:
    """HTTP and WebSocket routes to mount beside the gateway's own.

    Each is ``Guarded(route, access)``: a Starlette route and the class of
    callers it is for. A route without a class is not served and is a recorded
    problem. Called once every collaborator in ``gateway`` exists. The
    gateway's own routes win a conflict.
    """


@hookspec
def lifespan(gateway: Core) -> AbstractAsyncContextManager[None]:
    """Entered when the gateway opens and left, in reverse order, when it closes."""


@hookspec
def register_commands(cli: click.Group) -> None:
    """Add sub-commands to ``model-gateway``. Called when the command line is built."""
