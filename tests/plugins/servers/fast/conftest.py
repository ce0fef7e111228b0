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
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """The event loop that a test asks for with its ``server``."""
    called = getattr(request.node, "callspec", None)
    server = called.params.get("server", "uvloop") if called else "uvloop"
    return "asyncio", {"use_uvloop": server == "uvloop"}
