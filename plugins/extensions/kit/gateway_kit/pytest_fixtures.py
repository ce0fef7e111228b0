"""The kit's pytest fixtures. What they need is imported only when one is used."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .served_gateway import ServedGateway


@pytest.fixture
def served_gateway(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., "ServedGateway"]]:
    """Serves a gateway until the test ends: takes what ``ServedGateway`` takes but a folder."""
    from .served_gateway import ServedGateway

    with ExitStack() as stack:

        def serve(*plugins: str | object, **more: Any) -> ServedGateway:
            folder = tmp_path_factory.mktemp("gateway")
            return stack.enter_context(ServedGateway(*plugins, data_dir=folder, **more))

        yield serve
