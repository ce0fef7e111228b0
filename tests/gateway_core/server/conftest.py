"""What tests of several modules of the server share."""

from pathlib import Path

import pytest
from certificates import Issued, issue


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    """A certificate for this machine."""
    folder: Path = tmp_path_factory.mktemp("certificate")
    return issue(folder)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
