"""An extension's suite as a parametrised test function."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest

from gateway_kit.case import Case
from gateway_kit.pytest_folders import open_data_dir

from .suite import ExtensionSuite

TestFunction = Callable[..., None]


def extension_cases(
    plugin: str | object,
    *,
    public: Collection[str] = (),
    trusted: bool = False,
    settings: Mapping[str, Any] = {},
) -> TestFunction:
    """A test with one parameter for each case of this extension.

    ``plugin`` is the name of a module, or an object with hooks. ``public`` are the paths of
    its routes that are meant for everybody. ``trusted`` says that it needs the whole gateway,
    which an operator has to grant it. ``settings`` are values with which it does its work.
    Raises what importing the plugin raises.
    """
    suite = ExtensionSuite(plugin, public=public, trusted=trusted, settings=settings)

    @pytest.mark.parametrize("case", suite.cases(), ids=lambda case: case.name)
    def test_extension(case: Case, request: pytest.FixtureRequest) -> None:
        failure = suite.run(case, open_data_dir(suite, request))
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    return test_extension
