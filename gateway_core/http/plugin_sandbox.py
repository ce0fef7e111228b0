"""A fence around the routes of a plugin that comes from elsewhere.

Behind it a route sees a request without its credentials, and whatever it
raises is one request's 500. The gate has decided who may pass before it.
"""

import logging

from starlette.routing import BaseRoute, Match
from starlette.types import Message, Receive, Scope, Send

from ..identity.credential_headers import scope_without_credentials
from ..plugins.stopping import is_told_to_stop
from .operations import Guarded
from .requests import REQUEST_ID
from .responses import flat_error

_SHOWN = ("path", "methods", "name")
"""Attributes of a route that documents and answers about methods are made from."""

_FOUND = ("endpoint", "path_params", "root_path", "app_root_path")
"""What a match may add to a request's scope."""

log = logging.getLogger(__name__)


class Fenced(BaseRoute):
    """A plugin's route."""

    def __init__(self, plugin: str, route: BaseRoute) -> None:
        self._plugin = plugin
        self._route = route
        for name in _SHOWN:
            if hasattr(route, name):
                setattr(self, name, getattr(route, name))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        try:
            match, child = self._route.matches(scope_without_credentials(scope))
            return Match(match), {name: child[name] for name in _FOUND if name in child}
        except (Exception, SystemExit, KeyboardInterrupt):
            log.exception("plugin %s: a route failed when it was looked at", self._plugin)
            return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = ResponseStarted(send)
        try:
            await self._route.handle(scope_without_credentials(scope), receive, begun)
        except BaseException as error:
            if is_told_to_stop(error):
                raise
            log.exception("plugin %s: its route %s failed", self._plugin, scope["path"])
            if begun.it:
                raise RuntimeError("a plugin's route broke off its answer") from None
            refusal = flat_error("Request failed", 500, scope[REQUEST_ID])
            await refusal(scope, receive, send)


class ResponseStarted:
    """Sends, and remembers that it has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.it = False

    async def __call__(self, message: Message) -> None:
        self.it = True
        await self._send(message)


def fenced(plugin: str, guarded: Guarded) -> Guarded:
    """The same route behind its fence."""
    return Guarded(Fenced(plugin, guarded.route), guarded.access, guarded.operations)
