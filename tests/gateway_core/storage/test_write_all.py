"""Several statements in one go."""

import pytest

from gateway_core.storage.database import Database
from gateway_core.storage.errors import UniqueViolation

pytestmark = pytest.mark.anyio


async def test_what_is_written_together_is_written_whole_or_not_at_all(
    database: Database,
) -> None:
    add = "INSERT INTO meta (key, value) VALUES (:key, :value)"
    await database.write_all([(add, [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}])])

    with pytest.raises(UniqueViolation):
        await database.write_all(
            [(add, [{"key": "c", "value": "3"}]), (add, [{"key": "a", "value": "4"}])]
        )

    rows = await database.fetch("SELECT key, value FROM meta WHERE key IN ('a', 'b', 'c')")
    assert {row["key"]: row["value"] for row in rows} == {"a": "1", "b": "2"}
