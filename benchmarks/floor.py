"""The minimum cost of a proxy in Python: a bare server and the gateway's own transport.

    python -m benchmarks.floor uvicorn|hypercorn PORT VENDOR_PORT

It checks no key, reads, counts and translates nothing, and has no limits.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvloop

from gateway_core.contracts.exchange import Transport, UpstreamRequest
from gateway_core.upstream.transport import Network, is_over

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = {"content-type": "application/json"}


class Floor:
    """Passes each request on to the same path of one vendor, and the answer back."""

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        self._transport: Transport = Network().transport()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _body(receive)
        request = UpstreamRequest(url=self._vendor + scope["path"], headers=JSON, body=body)
        response = await self._transport.send(request)
        kept = [
            (name.encode(), value.encode())
            for name, value in response.headers.items()
            if name in ("content-type", "content-length")
        ]
        await send({"type": "http.response.start", "status": response.status, "headers": kept})
        over = False
        while not over:
            piece = await response.next()
            over = not piece or is_over(response)
            await send({"type": "http.response.body", "body": piece, "more_body": not over})


async def _body(receive: Receive) -> bytes:
    message = await receive()
    pieces = [message["body"]]
    while message.get("more_body"):
        message = await receive()
        pieces.append(message["body"])
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def by_uvicorn(app: Any, port: int) -> None:
    import uvicorn

    config = uvicorn.Config(
        app,
        port=port,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
    )
    await uvicorn.Server(config).serve()


async def by_hypercorn(app: Any, port: int) -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.accesslog = None
    config.loglevel = "WARNING"
    config.keep_alive_max_requests = 10**9
    await serve(app, config)


SERVERS = {"uvicorn": by_uvicorn, "hypercorn": by_hypercorn}


async def main(server: str, port: str, vendor: str) -> None:
    await SERVERS[server](Floor(f"http://127.0.0.1:{vendor}"), int(port))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
