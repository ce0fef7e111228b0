"""An object store, and gateways that keep files in it."""

from collections.abc import Iterator

import httpx2
import pytest
from object_store import ObjectStore, object_store
from served_gateway import Served, serve_gateway


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as running:
        yield running


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, store: ObjectStore) -> Iterator[Served]:
    """A gateway that waits for the store for a second."""
    variables = {
        **store.variables,
        "PLUGIN_EXTENSION_OBJECT_STORE_WAIT_SECONDS": "1",
        "FILE_QUOTA_BYTES": str(16 * 1024 * 1024),
    }
    folder = tmp_path_factory.mktemp("gateway")
    with serve_gateway(folder, {}, variables=variables) as running:
        yield running


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=here.url, trust_env=False, timeout=60) as made:
        yield made
