"""One gateway with guardrails for the tests of a module."""

from collections.abc import Iterator

import pytest
from guarded_gateway import GuardedGateway, Saying, guarded_gateway


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedGateway]:
    with guarded_gateway(tmp_path_factory.mktemp("guarded")) as running:
        yield running


@pytest.fixture
def here(gateway: GuardedGateway) -> GuardedGateway:
    """With a vendor that has its usual manners."""
    gateway.vendor.__dict__.update(Saying().__dict__)
    return gateway
