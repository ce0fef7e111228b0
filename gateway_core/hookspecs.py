"""The hooks a plugin may implement. Each is called once, while the gateway starts.

A plugin takes the arguments it wants by their names, and names the version of
the hook protocol that it is written for with ``GATEWAY_PROTOCOL`` in its module.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    import click
    from msgspec import Struct

    from .contracts.answer_filter import AnswerFilter
    from .contracts.file_contents import FileContents
    from .contracts.interceptor import Interceptor
    from .contracts.observation import Observation
    from .contracts.provider import ProviderSpec
    from .contracts.server import ServerSpec
    from .contracts.shared_state import SharedState
    from .contracts.wire import WireFormat
    from .http.operations import Guarded
    from .pipeline.plugin_host import Host

hookspec = HookspecMarker("model_gateway")
hookimpl = HookimplMarker("model_gateway")


@hookspec
def register_settings() -> type[Struct]:
    """The settings this plugin has: a frozen struct with a default for every field.

    Called first of all hooks. Every other hook may take the argument
    ``settings``, the value that is in force when it is called; it is ``None``
    for a plugin without this hook. A declaration that cannot be used switches
    the plugin off.
    """


@hookspec
def register_formats(settings: Struct | None) -> Iterable[WireFormat]:
    """Wire formats this plugin speaks.

    Called after settings. Of two formats with one id the first stays; the other is a
    recorded problem that names both plugins.
    """


@hookspec
def register_providers(settings: Struct | None) -> Iterable[ProviderSpec]:
    """Vendors this plugin brings.

    Called after formats, so a provider that names an unknown format can be
    reported and set aside without stopping the others.
    """


@hookspec
def register_interceptors(settings: Struct | None) -> Iterable[Interceptor]:
    """Objects that stand on the path of every inference call.

    Called after formats and providers. With none installed the path costs nothing.
    """


@hookspec
def register_answer_filters(settings: Struct | None) -> Iterable[AnswerFilter]:
    """Objects that look at answers of chat models before their clients get them.

    Called after interceptors. With none installed the path costs nothing.
    """


@hookspec
def register_observation(settings: Struct | None) -> Iterable[Observation]:
    """What follows every request, for telemetry: see ``gateway_observing``.

    Called after answer filters, and only plugins that come with the gateway or that an operator
    trusts are heard. The first one is used; a second one is a recorded problem.
    """


@hookspec
def register_servers(settings: Struct | None) -> Iterable[ServerSpec]:
    """HTTP servers that ``model-gateway`` can serve with.

    Called after observation. ``--server`` chooses one by its name; without it the
    first one serves, and hypercorn where there is none. Of two servers with one name the
    first stays; the other is a recorded problem that names both plugins.
    """


@hookspec
def register_shared_state(settings: Struct | None) -> Iterable[SharedState]:
    """Where several gateways that serve as one count limits and keep rests of accounts together.

    Called after servers. An empty list leaves each process to count for itself. The
    first one is used; a second one is a recorded problem.
    """


@hookspec
def register_file_contents(settings: Struct | None) -> Iterable[FileContents]:
    """Where the contents of clients' files are kept, in the place of a folder.

    Called after shared state. An empty list leaves them in the folder; a second one is a problem.
    """


@hookspec
def register_routes(host: Host, settings: Struct | None) -> Iterable[Guarded]:
    """HTTP and WebSocket routes to mount beside the gateway's own.

    Each is ``Guarded(route, access)``: a Starlette route and the class of
    callers it is for. A route without a class is not served and is a recorded
    problem. Called once the whole gateway stands. The gateway's own routes win
    a conflict. The callers of a WebSocket are checked before its handshake.
    ``host`` is the plugin's own part of the gateway; ``host.core`` is the whole
    of it, for a plugin that is trusted.
    """


@hookspec
def lifespan(host: Host, settings: Struct | None) -> AbstractAsyncContextManager[None]:
    """Entered when the gateway opens and left, in reverse order, when it closes.

    ``host`` is what ``register_routes`` gets.
    """


@hookspec
def listening(settings: Struct | None, address: str, browser: bool, tray: bool) -> None:
    """Called once ``model-gateway`` listens, in the one process that has printed so.

    ``address`` is the scheme, host and port for this machine. ``browser`` is true when a person
    at a desktop may be shown a page, ``tray`` when they wish for an icon there.
    """


@hookspec
def register_commands(cli: click.Group, settings: Struct | None) -> None:
    """Add sub-commands to ``model-gateway``. Called when the command line is built."""
