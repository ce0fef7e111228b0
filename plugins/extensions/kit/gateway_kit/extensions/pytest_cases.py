"""An extension's suite as a parametrised test function."""

from collections.abc import Callable, Collection

import pytest

from gateway_kit.case import Case
from gateway_kit.pytest_folders import open_data_dir

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
        failure = suite.run(case, open_data_dir(suite, request))
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    return test_extension
