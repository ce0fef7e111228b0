"""Where a suite that runs under pytest keeps its gateway's data."""

from pathlib import Path
from typing import Any, Protocol

import pytest


class Suite(Protocol):
    """Cases that share one gateway."""

    data_dir: Path | None

    def close(self) -> None: ...


def open_data_dir(suite: Suite, request: pytest.FixtureRequest) -> Path:
    """The suite's folder for one test module; the module's end closes the suite."""
    if suite.data_dir is None:
        factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        suite.data_dir = factory.mktemp("gateway-kit")
        module: Any = request.node.getparent(pytest.Module)
        module.addfinalizer(suite.close)
    return suite.data_dir
