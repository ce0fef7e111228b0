"""Any of our transports as one of httpx2's, for code that is written against its client."""

from collections.abc import AsyncIterator

import httpx2

from ...contracts.errors import TransportError
from ...contracts.exchange import Transport, UpstreamRequest, UpstreamResponse
from .fields import Fields


class HttpxTransport(httpx2.AsyncBaseTransport):
    """Carries an httpx2 client's requests; request bodies are held in memory.

    The transport underneath belongs to its network and is not closed with the client.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        times = request.extensions.get("timeout", {})
        sent = UpstreamRequest(
            method=request.method,
            url=str(request.url),
            headers=request_headers(request),
            body=body,
            first_byte_timeout=times.get("read"),
        )
        try:
            response = await self._transport.send(sent)
        except TransportError as error:
            raise translate_error(error, request) from error
        return httpx2.Response(
            response.status,
            headers=response_headers(response),
            stream=Body(response, request),
            request=request,
        )


class Body(httpx2.AsyncByteStream):
    """The body of an answer as httpx2 reads it."""

    def __init__(self, response: UpstreamResponse, request: httpx2.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self._response.next():
                yield chunk
        except TransportError as error:
            raise translate_error(error, self._request) from error

    async def aclose(self) -> None:
        await self._response.aclose()


def request_headers(request: httpx2.Request) -> dict[str, str]:
    """The fields by lower-case name; a repeated field becomes one."""
    fields: dict[str, str] = {}
    for raw, value in request.headers.raw:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        # RFC 6265 section 4.2.1 puts semicolons between cookies; RFC 9110 section 5.3 commas
        # between all else.
        separator = "; " if name == "cookie" else ", "
        fields[name] = f"{fields[name]}{separator}{text}" if name in fields else text
    return fields


def response_headers(response: UpstreamResponse) -> list[tuple[bytes, bytes]]:
    """Every field on its own line where the carrier still has it so."""
    # RFC 9110 section 5.3: lines of ``set-cookie`` must not be joined.
    if isinstance(response.headers, Fields):
        return list(response.headers.raw)
    return [(n.encode("latin-1"), v.encode("latin-1")) for n, v in response.headers.items()]


def translate_error(error: TransportError, request: httpx2.Request) -> httpx2.TransportError:
    """The same condition as an error of httpx2."""
    kind: type[httpx2.TransportError]
    if error.status == 504:
        kind = httpx2.ReadTimeout if error.sent else httpx2.ConnectTimeout
    else:
        kind = httpx2.ReadError if error.sent else httpx2.ConnectError
    return kind(error.message, request=request)
