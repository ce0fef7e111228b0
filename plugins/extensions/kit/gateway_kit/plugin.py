"""The kit's pytest plugin: the option ``--live`` and the fixtures; it loads nothing else."""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add ``--live``, unless another plugin has added it."""
    try:
        parser.getgroup("model-gateway").addoption(
            "--live",
            action="store_true",
            default=False,
            help="Ask real vendors, with the keys in the environment.",
        )
    except ValueError:
        return


def pytest_configure(config: Any) -> None:
    """Offer the fixtures, unless they are not wanted or a test suite names them itself."""
    config.pluginmanager.import_plugin("gateway_kit.pytest_fixtures")
