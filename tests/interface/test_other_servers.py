"""The ASGI application of an embedded gateway runs under other servers too."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import hypercorn.asyncio
import hypercorn.config
import openai
import pytest
import uvicorn

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.server import listen

Serve = Callable[[Any, int, asyncio.Event], Awaitable[None]]


async def by_uvicorn(app: Any, descriptor: int, stop: asyncio.Event) -> None:
    config = uvicorn.Config(app, fd=descriptor, lifespan="off", log_config=None)
    server = uvicorn.Server(config)

    async def end() -> None:
        await stop.wait()
        server.should_exit = True

    await asyncio.gather(server._serve(), end())


async def by_hypercorn(app: Any, descriptor: int, stop: asyncio.Event) -> None:
    config = hypercorn.config.Config()
    config.errorlog = None
    config.bind = [f"fd://{descriptor}"]
    await hypercorn.asyncio.serve(app, config, shutdown_trigger=stop.wait)


@pytest.fixture(params=[by_uvicorn, by_hypercorn])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    ready, trouble = threading.Event(), []
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    listener = listen("127.0.0.1", 0)

    async def main() -> None:
        async with Gateway.open(from_environ({"DATA_DIR": str(tmp_path)})) as gateway:
            ready.set()
            await request.param(gateway.app, listener.detach(), stop)

    def run() -> None:
        try:
            loop.run_until_complete(main())
        except BaseException as error:
            trouble.append(error)
        finally:
            loop.close()
            ready.set()

    port = listener.getsockname()[1]
    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(30)
    yield f"http://127.0.0.1:{port}/v1"
    loop.call_soon_threadsafe(stop.set)
    thread.join(30)
    assert not trouble


def test_answers_and_streams_are_served(url: str) -> None:
    with openai.OpenAI(base_url=url, api_key="none") as client:
        asked: Any = {"model": "echo/echo", "messages": [{"role": "user", "content": "Hello"}]}
        answers = [client.chat.completions.create(**asked) for _ in range(3)]
        with client.chat.completions.create(**asked, stream=True) as stream:
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]

    assert {answer.choices[0].message.content for answer in answers} == {"".join(pieces)}
    assert "Hello" in "".join(pieces)
