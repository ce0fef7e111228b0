"""The narrow waist between our stores and an engine.

SQL is written in the dialect both engines share: TEXT, BIGINT and DOUBLE
PRECISION columns, JSON and UTC ISO times as TEXT, ``:name`` parameters (``?``
where a tuple is bound) and ``ON CONFLICT … RETURNING``. Booleans are bound and
read as 0 and 1.

Errors are those of ``storage/errors.py``, whatever the engine.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

Row = Mapping[str, Any]
Values = Row | tuple[Any, ...]
"""The values of a statement: by name or, which is quicker for many rows, in order for its ``?``."""


class Queries(Protocol):
    """Where queries can be run."""

    async def fetch(self, sql: str, /, **values: Any) -> list[Row]:
        """Run a query. Outside a transaction it only reads; one that also writes
        (``RETURNING``) belongs into a transaction."""
        ...


class Statements(Queries, Protocol):
    """Where SQL can be run: a database, or a transaction on one."""

    async def execute(self, sql: str, /, **values: Any) -> int:
        """Run a statement; gives the number of rows it changed. Raises UniqueViolation."""
        ...

    async def execute_many(self, sql: str, rows: Sequence[Values], /) -> int:
        """Run a statement once for each row of values: all of them, or none."""
        ...


class Database(Statements, Protocol):
    """An open database.

    What is written is on disk when the call, or the transaction around it,
    has returned. Reads see what was committed, never half a transaction. A
    call that is cancelled on its way was done whole or not at all.
    """

    @property
    def engine(self) -> Literal["sqlite", "postgres"]: ...

    async def write_all(self, statements: Sequence[tuple[str, Sequence[Values]]], /) -> None:
        """Run each statement once for each of its rows, in order: everything, or nothing.

        As a transaction, but with one wait instead of one for each statement.
        """
        ...

    async def purge(self, sql: str, /, **values: Any) -> int:
        """As ``execute``, for a delete: the rows are overwritten on disk, not only let go."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Statements]:
        """All or nothing: commits when the block ends, undoes everything when it raises.

        Transactions come one after another. They do not nest, and while one is
        open its task speaks to the database through it only: anything else
        raises TransactionMisuse.
        """
        ...

    def reading(self) -> AbstractAsyncContextManager[Queries]:
        """Read one state of the database: its queries see no write that commits meanwhile, and
        hold none up."""
        ...

    async def wait_for_writes(self, look_every: float) -> None:
        """Return when another process may have written: at once where the engine says so, and
        else after ``look_every`` seconds."""
        ...

    async def close(self) -> None:
        """Undo an open transaction and let go of everything. May be called twice."""
        ...
