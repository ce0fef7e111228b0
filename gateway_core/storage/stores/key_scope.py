"""The accounts that gateway keys are bound to, when accounts go away.

A key without any account in its scope may use all of them, so the last one of
a key is never taken from it by the way.
"""

from collections import Counter
from collections.abc import Iterable

from ...contracts.errors import Conflict
from ..database import Statements
from .keys import GROUP
from .versions import raise_version

_BOUND = """
    SELECT s.api_key_id, k.name AS key_name, c.name AS name,
        (SELECT count(*) FROM api_key_connections o WHERE o.api_key_id = s.api_key_id) AS total
    FROM api_key_connections s
        JOIN api_keys k ON k.id = s.api_key_id
        JOIN connections c ON c.id = s.connection_id
    WHERE s.connection_id = :id
    ORDER BY k.created_at, k.id
"""
_TOUCH = """
    UPDATE api_keys SET version = :version
    WHERE id IN (SELECT api_key_id FROM api_key_connections WHERE connection_id = :id)
"""


class ScopeWouldBroaden(Conflict):
    """A key would lose its last account, and with it its bounds."""

    code = "API_KEY_SCOPE_WOULD_BROADEN"

    def __init__(self, connection: str, key: str) -> None:
        super().__init__(
            f'"{connection}" is the last scoped account of the API key "{key}", which could use '
            "every account without it. Give the key another account first, or delete the key."
        )


async def release(transaction: Statements, connection_ids: Iterable[str]) -> None:
    """Take accounts out of every key's scope, before they are deleted together.

    Raises ScopeWouldBroaden for one that is the last of a key; nothing is
    changed then.
    """
    going = tuple(dict.fromkeys(connection_ids))
    bound = [(one, row) for one in going for row in await transaction.fetch(_BOUND, id=one)]
    lost: Counter[str] = Counter()
    for connection, row in bound:
        lost[row["api_key_id"]] += 1
        if lost[row["api_key_id"]] == row["total"]:
            raise ScopeWouldBroaden(row["name"] or connection, row["key_name"])
    if not bound:
        return
    version = await raise_version(transaction, GROUP)
    for one in dict.fromkeys(one for one, _ in bound):
        await transaction.execute(_TOUCH, id=one, version=version)
    await transaction.execute_many(
        "DELETE FROM api_key_connections WHERE connection_id = :id",
        [{"id": one} for one in going],
    )
