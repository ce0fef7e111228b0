"""Pictures of one gateway are found by the others, while the server is there."""

import asyncio
from pathlib import Path

import httpx2
from fake_vendor import MockResponse, ReceivedRequest
from gateway_extension_valkey.state import ValkeyState
from served_gateway import serve_gateway
from valkey_replicas import replicas
from valkey_server import ValkeyServer
from vendor_answers import WHOLE

from gateway_providers.image_cache import CachedImage, ImageCache

PICTURE = b"\x89PNG\r\n" + bytes(range(256)) * 4096


def answer(received: ReceivedRequest) -> MockResponse:
    return MockResponse((WHOLE["openai"],))


async def found(cache: ImageCache, name: str) -> CachedImage:
    """It is sent in the background."""
    async with asyncio.timeout(20):
        while (image := await cache.find_anywhere(name)) is None:
            await asyncio.sleep(0.01)
    return image


def test_a_picture_of_one_is_found_at_the_other_until_it_is_evicted(server: ValkeyServer) -> None:
    async def work() -> None:
        async with replicas(server, 2) as (first, second):
            one = ImageCache(shared=lambda: first.state, most_bytes=2 * len(PICTURE))
            other = ImageCache(shared=lambda: second.state)
            name = one.put(PICTURE, "image/png", context="a conversation")
            assert name is not None
            image = await found(other, name)
            assert (image.content, image.media_type) == (PICTURE, "image/png")
            assert image.context is None

            newer = [one.put(PICTURE, "image/webp") for _ in range(2)]
            assert all([await found(other, each) for each in newer if each is not None])
            async with asyncio.timeout(20):
                while await other.find_anywhere(name) is not None:
                    await asyncio.sleep(0.01)

    asyncio.run(work())


def test_without_the_server_a_gateway_has_its_own_pictures(server: ValkeyServer) -> None:
    async def work() -> None:
        async with replicas(server, 2) as (first, second):
            one = ImageCache(shared=lambda: first.state)
            other = ImageCache(shared=lambda: second.state)
            server.kill()
            name = one.put(PICTURE, "image/png")
            assert name is not None
            assert await one.find_anywhere(name) is not None
            assert await other.find_anywhere(name) is None

    asyncio.run(work())


def test_a_gateway_serves_the_picture_of_another(
    tmp_path: Path, server: ValkeyServer, http: httpx2.Client
) -> None:
    async def put() -> str:
        state = ValkeyState(server.url, "model-gateway", 0.5)
        async with state.connect(lambda rest: None):
            name = ImageCache(shared=lambda: state).put(PICTURE, "image/png")
            assert name is not None
            await found(ImageCache(shared=lambda: state), name)
            return name

    name = asyncio.run(put())
    variables = {"GATEWAY_VALKEY_URL": server.url}
    with serve_gateway(tmp_path / "data", {"openai": answer}, variables=variables) as here:
        picture = http.get(f"{here.url}/v1/chatweb/image/{name}")
        gone = http.get(f"{here.url}/v1/chatweb/image/{'0' * 32}")
        strange = http.get(f"{here.url}/v1/chatweb/image/{name}:*")

    assert (picture.content, picture.headers["content-type"]) == (PICTURE, "image/png")
    assert (gone.status_code, strange.status_code) == (404, 404)
