"""A program that embeds the gateway and serves its ASGI application with another server.

DATA_DIR=FOLDER python -m benchmarks.embedded uvicorn|hypercorn PORT
"""

import asyncio
import os
import sys

import uvloop

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ

from .floor import SERVERS


async def main(server: str, port: str) -> None:
    async with Gateway.open(from_environ(os.environ)) as gateway:
        await SERVERS[server](gateway.app, int(port))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
