"""An OAuth server, a vendor that takes its tokens, and a clock that stands still."""

from collections.abc import AsyncIterator, Iterator

import pytest
from oauth_server import OAuthServer, running
from oauth_vendor import PAGE, SignedInVendor
from snapshots import Clock


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    with running() as here:
        here.register(PAGE)
        yield here


@pytest.fixture
async def vendor(server: OAuthServer) -> AsyncIterator[SignedInVendor]:
    here = SignedInVendor(server)
    await here.open()
    yield here
    await here.aclose()


@pytest.fixture
def clock() -> Clock:
    return Clock()
