"""A gateway is an object: several at once, and nothing left behind by any."""

import asyncio
import threading
from pathlib import Path

import httpx2
import psutil
import pytest

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import DataDirInUse

POOLS = ("asyncio_", "files_")
"""What the names of pools' threads begin with."""
HELLO = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hello there"}]}


def client_of(gateway: Gateway, host: str = "127.0.0.1") -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=gateway.app, client=(host, 1))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def written(gateway: Gateway) -> str:
    async with client_of(gateway) as client:
        answer = await client.post("/v1/chat/completions", json=HELLO)
    return str(answer.json()["choices"][0]["message"]["content"])


def test_three_gateways_serve_in_one_interpreter(tmp_path: Path) -> None:
    async def main() -> list[str]:
        environments = [from_environ({"DATA_DIR": str(tmp_path / name)}) for name in "abc"]
        async with (
            Gateway.open(environments[0]) as a,
            Gateway.open(environments[1]) as b,
            Gateway.open(environments[2]) as c,
        ):
            assert len({id(gateway.core.stores) for gateway in (a, b, c)}) == 3
            return list(await asyncio.gather(written(a), written(b), written(c)))

    assert asyncio.run(main()) == ["Hello there"] * 3


def test_two_gateways_cannot_share_a_data_directory(tmp_path: Path) -> None:
    async def main() -> None:
        environment = from_environ({"DATA_DIR": str(tmp_path)})
        async with Gateway.open(environment):
            with pytest.raises(DataDirInUse):
                async with Gateway.open(environment):
                    pass

    asyncio.run(main())


def test_opening_and_closing_200_times_leaves_nothing_behind(tmp_path: Path) -> None:
    process = psutil.Process()

    async def once() -> None:
        async with Gateway.open(from_environ({"DATA_DIR": str(tmp_path)})) as gateway:
            assert await written(gateway) == "Hello there"

    def counts() -> tuple[int, int, int]:
        sockets = len(process.net_connections(kind="all"))
        # Pools start threads as work meets, up to their sizes.
        threads = [each for each in threading.enumerate() if not each.name.startswith(POOLS)]
        return process.num_fds(), len(threads), sockets

    async def main() -> tuple[tuple[int, int, int], tuple[int, int, int], int]:
        for _ in range(3):
            await once()
        before = counts()
        for _ in range(200):
            await once()
        return before, counts(), len(asyncio.all_tasks())

    before, after, tasks = asyncio.run(main())

    assert tasks == 1
    assert after == before


def test_the_usage_of_a_gateway_that_closes_at_once_is_kept(tmp_path: Path) -> None:
    async def main() -> int:
        environment = from_environ({"DATA_DIR": str(tmp_path)})
        async with Gateway.open(environment) as gateway:
            await written(gateway)
        async with Gateway.open(environment) as gateway:
            return (await gateway.core.stores.usage.page()).total

    assert asyncio.run(main()) == 1


def test_a_remote_caller_is_refused_everywhere_but_on_public_routes(tmp_path: Path) -> None:
    async def main() -> dict[str, int]:
        async with (
            Gateway.open(from_environ({"DATA_DIR": str(tmp_path)})) as gateway,
            client_of(gateway, "192.0.2.7") as client,
        ):
            chat = await client.post("/v1/chat/completions", json=HELLO)
            paths = ("/v1/models", "/api/providers", "/api/health", "/v1/provider-plugin-manifest")
            answers = {path: (await client.get(path)).status_code for path in paths}
            return {**answers, "chat": chat.status_code}

    assert asyncio.run(main()) == {
        "/v1/models": 401,
        "/api/providers": 401,
        "/api/health": 200,
        "/v1/provider-plugin-manifest": 200,
        "chat": 401,
    }
