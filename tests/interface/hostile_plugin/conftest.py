"""A plugin that is out for secrets gets its own and no others, and its name gets into the log.

What code in the same process can do past the doors it is given is not tested
here, because it cannot be stopped: docs/plugin-security.md says so.
"""

import logging
from collections.abc import AsyncIterator

import pytest
from hostile_gateway import HostileGateway, open_hostile_gateway


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HostileGateway]:
    async with open_hostile_gateway(tmp_path_factory.mktemp("data")) as scene:
        yield scene


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog
