"""The second carrier: over proxies, and over HTTP/2. Slower, and imported only when needed."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import cast

import httpcore2

from ...contracts.errors import TransportError
from ...contracts.exchange import BodyParts, UpstreamRequest, UpstreamResponse
from .addresses import AddressPolicy
from .decoding import decoded
from .dialling import Tls
from .engine import (
    READ_AHEAD,
    SOCKS,
    Backend,
    Witness,
    in_time,
    open_pool,
    read_proxy,
    translate_errors,
)
from .failures import (
    abandoned,
    answer_timeout,
    broken_off,
    head_too_large,
    proxy_failed,
    shutting_down,
    silence,
    unanswered,
)
from .fields import Field, Fields
from .guard import AddressGuard
from .heads import RequestBytes, write
from .limits import HEAD_BYTES, HEAD_FIELDS, TransportLimits
from .spans import Spans
from .urls import Url, bracket, parse

# At DEBUG they write out what they carry: a proxy's password, the headers of a request.
for _talkative in ("httpcore2", "hpack"):
    logging.getLogger(_talkative).setLevel(logging.INFO)

PROXY_REFUSED = 407
"""RFC 9110 section 15.5.8: it comes from the proxy, which wants other credentials."""


class Proxied:
    """Sends over one proxy, or over HTTP/2 directly. Follows no redirects.

    What the proxy dials cannot be seen from here, so a public destination is
    looked up and checked first and the proxy gets its address, not its name.
    """

    def __init__(
        self,
        proxy: str | None,
        guard: AddressGuard,
        policy: AddressPolicy,
        limits: TransportLimits,
        tls: Tls,
        *,
        upgrades: bool = False,
    ) -> None:
        """``upgrades`` makes one for ``upgrade``, in the place of ``send``.

        Raises MalformedUrl when the proxy's URL is none.
        """
        parsed = None if proxy is None else read_proxy(proxy, tls)
        self._guard = guard
        self._policy = policy
        self._limits = limits
        self._behind = parsed is not None
        self._socks = parsed is not None and parsed.url.scheme.decode() in SOCKS
        # The proxy itself is the operator's choice, whoever named the destination.
        reached = AddressPolicy.OPERATOR if self._behind else policy
        backend = Backend(guard, reached, READ_AHEAD if upgrades else ())
        public = self._behind and policy is AddressPolicy.PUBLIC
        self._pool = open_pool(parsed, backend, limits, tls, public=public, upgrades=upgrades)
        # Closing the pool leaves requests that still connect or wait for a place hanging.
        self._spans = Spans()

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Send and wait for the head of the answer. Raises TransportError."""
        url = parse(request.url)
        message = write(request, url, self._limits)
        answer = await self._ask(request.method, url, message, fields_of(message.head))
        return await decoded(answer) if "content-encoding" in answer.headers else answer

    async def upgrade(self, request: UpstreamRequest, fields: Sequence[Field]) -> "ProxiedAnswer":
        """Send a request with these fields in front of its own, among them those of an upgrade,
        and wait for the head of the answer. Raises TransportError."""
        url = parse(request.url)
        message = write(request, url, self._limits)
        host, *others = fields_of(message.head)
        return await self._ask(request.method, url, message, [host, *fields, *others])

    async def _ask(
        self, method: str, url: Url, message: RequestBytes, fields: list[Field]
    ) -> "ProxiedAnswer":
        connect, patience = self._limits.connect, message.patience
        times = {"connect": connect, "pool": connect, "write": patience, "read": patience}
        host = await self._destination(url)
        outgoing = httpcore2.Request(
            method,
            httpcore2.URL(
                scheme=url.scheme,
                host=host if self._socks else bracket(host),
                port=url.port,
                target=url.target,
            ),
            headers=fields,
            content=message.body if isinstance(message.body, bytes) else pieces(message.body),
            extensions={"timeout": times, "sni_hostname": url.host, "trace": Witness()},
        )
        try:
            async with self._spans.limit(None):
                with translate_errors(answer_timeout, unanswered):
                    response = await self._pool.handle_async_request(outgoing)
        except TimeoutError as error:
            raise shutting_down(sent=True) from error
        # The engine reads the dict again for the body.
        times["read"] = message.silence
        answer = ProxiedAnswer(response)
        if too_large(response.headers):
            await answer.aclose()
            raise head_too_large()
        if self._behind and answer.status == PROXY_REFUSED:
            await answer.aclose()
            raise proxy_failed()
        return answer

    async def aclose(self) -> None:
        """Close every connection; pending requests get a TransportError."""
        await self._spans.end()
        await self._pool.aclose()

    async def _destination(self, url: Url) -> str:
        """The host that the proxy is to connect to."""
        if not self._behind:
            return url.host
        if self._policy is AddressPolicy.OPERATOR:
            self._guard.check_literal(url.host, url.port, self._policy)
            return url.host
        # The proxy gets the checked address, because its own look-up could give another.
        async with in_time(self._limits.connect):
            return (await self._guard.addresses(url.host, url.port, self._policy))[0]


class ProxiedAnswer:
    """One answer; its body is read from the pool piece by piece."""

    def __init__(self, response: httpcore2.Response) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = Fields(response.headers)
        self._response = response
        self._chunks = cast(AsyncGenerator[bytes, None], aiter(response.aiter_stream()))
        self._failure: TransportError | None = None
        self._ended = False

    @property
    def stream(self) -> httpcore2.AsyncNetworkStream:
        """The connection itself, of an answer that has upgraded it."""
        return cast(httpcore2.AsyncNetworkStream, self._response.extensions["network_stream"])

    async def next(self) -> bytes:
        """The next piece of the body; ``b""`` at the end. Raises TransportError."""
        if self._failure is not None:
            raise self._failure
        try:
            with translate_errors(silence, broken_off):
                async for chunk in self._chunks:
                    if chunk:
                        return chunk
        except BaseException as error:
            # The pool has closed the connection, whatever it was.
            self._failure = error if isinstance(error, TransportError) else abandoned()
            raise
        self._ended = True
        return b""

    async def aclose(self) -> None:
        """Give the connection back, or drop it when the body was not read to its end."""
        if not self._ended:
            self._failure = self._failure or abandoned()
        await self._chunks.aclose()
        await self._response.aclose()


async def pieces(body: BodyParts) -> AsyncIterator[bytes]:
    """The pieces of a body as the engine takes them."""
    for piece in body:
        yield piece


def fields_of(head: bytes) -> list[tuple[bytes, bytes]]:
    """The fields of a written head, ``host`` first."""
    lines = head.split(b"\r\n")[1:-2]
    return [(name, value) for name, _, value in (line.partition(b": ") for line in lines)]


def too_large(fields: list[tuple[bytes, bytes]]) -> bool:
    size = sum(len(name) + len(value) + 4 for name, value in fields)
    return len(fields) > HEAD_FIELDS or size > HEAD_BYTES
