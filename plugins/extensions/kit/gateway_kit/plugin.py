"""The kit's pytest plugin: the option ``--live``, and nothing else."""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add ``--live``, unless somebody else has it already."""
    try:
        parser.getgroup("model-gateway").addoption(
            "--live",
            action="store_true",
            default=False,
            help="Ask real vendors, with the keys in the environment.",
        )
    except ValueError:
        return
