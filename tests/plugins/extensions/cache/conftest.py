"""One gateway that keeps answers for the tests of a module."""

from collections.abc import Iterator

import pytest
from caching_gateway import CachingGateway, caching_gateway


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CachingGateway]:
    with caching_gateway(tmp_path_factory.mktemp("caching")) as running:
        yield running


@pytest.fixture
def here(gateway: CachingGateway) -> CachingGateway:
    """With the usual settings, a vendor that has forgotten all, and nothing that is kept."""
    gateway.vendor.reset()
    gateway.set()
    gateway.clock.move(100_000)
    return gateway
