"""One served gateway for all tests of a module, empty for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from config_files import ConfigCommand, list_models
from served_gateway import Served, serve_gateway


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gateway")


@pytest.fixture(scope="module")
def served(data_dir: Path) -> Iterator[Served]:
    with serve_gateway(data_dir, {"openai": list_models}) as here:
        yield here


@pytest.fixture
def config(served: Served, data_dir: Path, tmp_path: Path) -> Iterator[ConfigCommand]:
    command = ConfigCommand(served, data_dir, tmp_path)
    yield command
    command.clear()
