"""Sends one request for one account: to an allowed host, by its executor, through its proxy."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from traceback import format_tb
from typing import TypeVar

from msgspec.structs import replace

from ..contracts.errors import (
    GatewayError,
    HostRefused,
    PluginBroken,
    TooSlow,
    TransportError,
)
from ..contracts.exchange import UpstreamRequest, UpstreamResponse
from ..contracts.provider import ProviderSpec
from ..plugins.stopping import is_told_to_stop
from ..routing.snapshot import Account
from ..upstream.proxies import proxy_for
from ..upstream.redaction import redact, secrets_of
from ..upstream.transport import SentRequest, UpstreamAnswer
from .context import Collaborators

T = TypeVar("T")

FRAMES = 4
"""How many of the innermost frames of a failure are logged."""

log = logging.getLogger(__name__)


def send(
    core: Collaborators, provider: ProviderSpec, account: Account, request: UpstreamRequest
) -> Awaitable[UpstreamResponse]:
    """The answer, whose head has arrived. Raises TransportError, PluginBroken.

    The only way a request with a credential leaves: an executor may have to
    exchange the credential for something that can be shown to the vendor.
    """
    if provider.executor is None:
        core.egress_policy.check(provider, account.credential, request)
        if account.proxy is None and not account.is_login:
            return core.network.transport().send(request)
    by = _send_with_login if account.is_login else _send_by
    return by(core, provider, account, request)


def send_now(
    core: Collaborators, provider: ProviderSpec, account: Account, request: UpstreamRequest
) -> SentRequest | None:
    """Send on a free connection, for a provider without an executor and an account without a
    proxy; ``None``, and nothing is sent, where there is no such connection.

    Raises HostRefused, TransportError.
    """
    core.egress_policy.check(provider, account.credential, request)
    return core.network.direct.begin(request)


async def _send_with_login(
    core: Collaborators, provider: ProviderSpec, account: Account, request: UpstreamRequest
) -> UpstreamResponse:
    """A token that the vendor refuses is renewed, and the request is sent once more with it."""
    answer = await _send_by(core, provider, account, request)
    renew, refused = core.state.renew_login, account.credential.secret
    if answer.status != 401 or renew is None or not refused:
        return answer
    try:
        newer = await renew(provider, account)
    except BaseException:
        await answer.aclose()
        raise
    if newer is None or not (token := newer.credential.secret):
        return answer
    await answer.aclose()
    headers = {name: text.replace(refused, token) for name, text in request.headers.items()}
    return await _send_by(core, provider, newer, replace(request, headers=headers))


async def _send_by(
    core: Collaborators, provider: ProviderSpec, account: Account, request: UpstreamRequest
) -> UpstreamResponse:
    """By an executor or a proxy. A proxy that is not strict is bypassed when it cannot connect."""
    proxy = proxy_for(account.proxy, request.url)
    try:
        return await _send(core, provider, account, request, proxy)
    except TransportError as error:
        if proxy is None or account.proxy is None or account.proxy.strict or error.sent:
            raise
        if isinstance(error, HostRefused):
            raise
    return await _send(core, provider, account, request, None)


async def _send(
    core: Collaborators,
    provider: ProviderSpec,
    account: Account,
    request: UpstreamRequest,
    way: str | None,
) -> UpstreamResponse:
    transport = core.network.transport(way)
    if provider.executor is None:
        return await transport.send(request)
    connect = partial(core.network.connect, proxy=way)
    bound = core.egress_policy.bound(provider, account.credential, transport, connect)
    try:
        async with asyncio.timeout(longest(core, request)):
            answer = await provider.executor.send(request, account.credential, bound)
    except GatewayError:
        raise
    except TimeoutError:
        raise TooSlow("The provider's executor took too long") from None
    except BaseException as error:
        if is_told_to_stop(error):
            raise
        raise broken(core, provider, account, error) from None
    if isinstance(answer, UpstreamAnswer):  # the transport's own, as it came
        return answer
    headers = getattr(answer, "headers", None)
    is_answer = isinstance(getattr(answer, "status", None), int) and isinstance(headers, Mapping)
    can_be_read = all(callable(getattr(answer, name, None)) for name in ("next", "aclose"))
    if not is_answer or not can_be_read:
        type_error = TypeError(f"the executor returned {type(answer).__name__} for a response")
        raise broken(core, provider, account, type_error)
    return ExecutorAnswer(answer, partial(broken, core, provider, account))


def longest(core: Collaborators, request: UpstreamRequest) -> float:
    """Seconds that an answer may take which is not streamed."""
    return max(core.whole_timeout, request.first_byte_timeout or 0.0)


def broken(
    core: Collaborators, provider: ProviderSpec, account: Account, error: BaseException
) -> PluginBroken:
    """The error for the client when a provider's own code fails; the details go to the log."""
    plugin = core.snapshot.registry.provider_plugins.get(provider.id, provider.id)
    log.error(
        "plugin %s: its code for provider %s failed: %s\n%s",
        plugin,
        provider.id,
        redact(described(error), secrets_of(account.credential)),
        "".join(format_tb(error.__traceback__)[-FRAMES:]),
    )
    return PluginBroken(f"The plugin of provider {provider.shown} failed on this request.")


def described(error: BaseException) -> str:
    """An error in a line. Its text is a plugin's too, and building it may fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


class ExecutorAnswer:
    """A response that an executor has made itself: what it raises is the plugin's failure."""

    def __init__(
        self, answer: UpstreamResponse, failure: Callable[[BaseException], PluginBroken]
    ) -> None:
        self.status, self.headers = answer.status, answer.headers
        self._answer, self._failure = answer, failure

    async def next(self) -> bytes:
        """Raises TransportError, PluginBroken."""
        return await self._guarded(self._answer.next())

    async def aclose(self) -> None:
        await self._guarded(self._answer.aclose())

    async def _guarded(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except GatewayError:
            raise
        except BaseException as error:
            if is_told_to_stop(error):
                raise
            raise self._failure(error) from None
