"""A server of Valkey for each test."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from valkey_server import ValkeyServer, valkey_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ValkeyServer]:
    with valkey_server(tmp_path) as running:
        yield running


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False, timeout=30) as client:
        yield client
