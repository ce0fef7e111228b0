"""Lets the calls of a provider go to the hosts it declares, and nowhere else.

A provider's code chooses addresses (a format's path, ``url_builder``, an
adapter, an executor), and with the address it chooses who gets the account's
secret. So every address is compared here with what was declared before any
code had a secret, and with what the operator wrote into the account.

This binds code that uses the transport it gets. It is no sandbox.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..contracts.errors import HostRefused, TransportError
from ..contracts.exchange import (
    Socket,
    SocketTransport,
    Transport,
    UpstreamRequest,
    UpstreamResponse,
)
from ..contracts.provider import Credential, ProviderSpec
from .allowed_hosts import AllowedHosts, allowed_hosts, is_named
from .redaction import redact, secrets_of
from .transport import MalformedUrl
from .transport.urls import Url, parse

MOST_HELD = 4096
"""Providers whose reach is remembered."""

Send = Callable[[UpstreamRequest], Awaitable[UpstreamResponse]]
Connect = Callable[[UpstreamRequest], Awaitable[Socket]]

log = logging.getLogger(__name__)


class Configured(Struct):
    """An account's data as it was before any plugin's code saw it."""

    credential: Credential
    data: Mapping[str, Any]
    seen: set[str]
    """Origins that the data was found to name."""
    passed: tuple[ProviderSpec, str] | None = None
    """The provider and the address that were let through last."""

    def names(self, url: Url) -> bool:
        is_configured = is_named(url, self.data)
        if is_configured:
            self.seen.add(url.origin)
        return is_configured


class EgressPolicy:
    """Checks where requests go before they leave. ``owner`` tells the plugin of a provider."""

    def __init__(self, owner: Callable[[str], str] = str) -> None:
        self._owner = owner
        self._reaches: dict[str, tuple[ProviderSpec, AllowedHosts]] = {}
        self._accounts: dict[str, Configured] = {}

    def learn(self, specs: Iterable[ProviderSpec]) -> None:
        """Read what providers declare, before any of their code runs for a request."""
        for spec in specs:
            self.reach(spec)

    def learn_accounts(self, credentials: Iterable[Credential]) -> None:
        """Read what accounts name, in the place of all that was read before."""
        self._accounts = {each.connection_id: _configured(each) for each in credentials}

    def reach(self, spec: ProviderSpec) -> AllowedHosts:
        """What a provider declares."""
        held = self._reaches.get(spec.id)
        if held is not None and held[0] is spec:
            return held[1]
        if len(self._reaches) >= MOST_HELD:
            self._reaches.clear()
        reach = allowed_hosts(spec)
        self._reaches[spec.id] = (spec, reach)
        return reach

    def check(self, spec: ProviderSpec, credential: Credential, request: UpstreamRequest) -> None:
        """Refuse a request to anywhere else. Raises HostRefused, MalformedUrl."""
        self._check(spec, self._account(credential), request)

    def bound(
        self,
        spec: ProviderSpec,
        credential: Credential,
        transport: Transport,
        connect: Connect | None = None,
    ) -> SocketTransport:
        """The transport as a provider's own code gets it for one account.

        ``connect`` opens WebSockets, where they are possible.
        """
        account = self._account(credential)

        async def send(request: UpstreamRequest) -> UpstreamResponse:
            self._check(spec, account, request)
            # A copy: a plugin that still holds the request could change its address between
            # this check and the dial.
            return await transport.send(replace(request))

        if connect is None:
            return BoundTransport(send)

        async def open_socket(request: UpstreamRequest) -> Socket:
            self._check(spec, account, request)
            return await connect(replace(request))

        return BoundTransport(send, open_socket)

    def _account(self, credential: Credential) -> Configured:
        """What an account names; one that is not stored is read as it is now."""
        held = self._accounts.get(credential.connection_id)
        # Identity, not equality: a plugin may make a credential with an account's id and other
        # data, which is then judged by that data.
        if held is None or held.credential is not credential:
            return _configured(credential)
        return held

    def _check(self, spec: ProviderSpec, account: Configured, request: UpstreamRequest) -> None:
        # This is on the path of every call, and most go where the last one went.
        if type(request) is UpstreamRequest and type(request.url) is str:
            passed = account.passed
            if passed is not None and passed[0] is spec and passed[1] == request.url:
                return
        url, reach = read(request, self._owner, spec.id), self.reach(spec)
        origin = url.origin
        if origin in account.seen or reach.covers(origin) or account.names(url):
            account.passed = (spec, request.url)
            return
        shown = redact(url.origin, secrets_of(account.credential))
        raise refused(self._owner(spec.id), shown)


def _configured(credential: Credential) -> Configured:
    return Configured(credential, dict(credential.data), set())


class BoundTransport:
    """A way out to some hosts and no others."""

    __slots__ = ("__connect", "__send")

    def __init__(self, send: Send, connect: Connect | None = None) -> None:
        self.__send, self.__connect = send, connect

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Send and wait for the head of the answer. Raises HostRefused, TransportError."""
        return await self.__send(request)

    async def connect(self, request: UpstreamRequest) -> Socket:
        """Open a WebSocket. Raises HostRefused, TransportError, UpstreamError."""
        if self.__connect is None:
            raise TransportError("No WebSocket can be opened here", sent=False)
        return await self.__connect(request)


def read(request: UpstreamRequest, owner: Callable[[str], str], provider: str) -> Url:
    """Where a request goes. Raises HostRefused, MalformedUrl."""
    # A subclass could show one address here and another to the transport.
    if type(request) is not UpstreamRequest or type(request.url) is not str:
        raise refused(owner(provider), "an address that is not plain text")
    try:
        return parse(request.url)
    except MalformedUrl as error:
        log.warning("plugin %s: nothing was sent: %s", owner(provider), error.message)
        raise


def refused(plugin: str, where: str) -> HostRefused:
    """The refusal, logged; ``where`` holds no secret."""
    log.warning("plugin %s: it may not send to %s, so nothing was sent", plugin, where)
    return HostRefused(f"Plugin {plugin} may not send to {where}, so nothing was sent.")
