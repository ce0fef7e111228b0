"""A proxy program on loopback, with a host name that only it can reach."""

import asyncio
import importlib
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from certificates import Issued

VENDOR = "vendor.test"
"""A name that no resolver knows; the proxy maps every name to this machine."""


class RealProxy:
    """Serves until closed. ``reached`` lists the tunnels it opened, as ``host:port``."""

    def __init__(self, scheme: str = "http", user: str = "", issued: Issued | None = None) -> None:
        """``user`` is ``name:password``; empty needs no login. ``issued`` is the certificate of
        an https proxy."""
        self.scheme, self.issued = scheme, issued
        self.user = user
        self.reached: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return self.url_for(self.user)

    def url_for(self, user: str) -> str:
        return f"{self.scheme}://{user}{'@' if user else ''}127.0.0.1:{self.port}"

    async def open(self) -> None:
        program = _program()
        remote = program.ProxyDirect()
        remote.wait_open_connection = self._connect
        scheme = "http+ssl" if self.issued else self.scheme
        own = program.proxy_by_uri(f"{scheme}://127.0.0.1:0#{self.user}", None)
        if self.issued:
            own.sslserver.load_cert_chain(self.issued.cert, self.issued.key)
        # It would remember for a month that this machine's address was let in once.
        self._server = await own.start_server({"rserver": [remote], "authtime": -1})
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        """Close, and wait for open tunnels."""
        self._server.close()
        carried = [task for task in asyncio.all_tasks() if "pproxy" in str(task.get_coro())]
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)

    async def _connect(self, host: str, port: int, *_: Any) -> Any:
        self.reached.append(f"{host}:{port}")
        return await asyncio.open_connection("127.0.0.1", port)


def _program() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own spelling
        return importlib.import_module("pproxy.server")


@asynccontextmanager
async def real_proxy(scheme: str = "http", user: str = "") -> AsyncIterator[RealProxy]:
    proxy = RealProxy(scheme, user)
    await proxy.open()
    try:
        yield proxy
    finally:
        await proxy.aclose()
