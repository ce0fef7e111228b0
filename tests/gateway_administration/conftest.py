"""What the tests of the operator's tools share."""

import pytest
from migrated_databases import (  # noqa: F401  # fixtures
    clock,
    database,
    migrated,
    new_id,
    vault,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
