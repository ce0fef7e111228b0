"""An extension's suite as a parametrised test function."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from gateway_kit.case import Case

from .suite import ExtensionSuite

TestFunction = Callable[..., None]


def extension_cases(
    plugin: str | object, *, public: Collection[str] = (), trusted: bool = False
) -> TestFunction:
    """A test with one parameter for each case of this extension.

    ``plugin`` is the name of a module, or an object with hooks. ``public`` are the paths of
    its routes that are meant for everybody. ``trusted`` says that it needs the whole gateway,
    which an operator has to grant it. Raises what importing the plugin raises.
    """
    suite = ExtensionSuite(plugin, public=public, trusted=trusted)

    @pytest.mark.parametrize("case", suite.cases(), ids=lambda case: case.name)
    def test_extension(case: Case, request: pytest.FixtureRequest) -> None:
        failure = suite.run(case, _data_dir(suite, request))
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    return test_extension


def _data_dir(suite: ExtensionSuite, request: pytest.FixtureRequest) -> Path:
    """The module's own folder; its end closes the suite."""
    if suite.data_dir is None:
        factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        suite.data_dir = factory.mktemp("gateway-kit")
        module: Any = request.node.getparent(pytest.Module)
        module.addfinalizer(suite.close)
    return suite.data_dir
