"""The rows of batches in the database, and the lease under which one process writes to them.

Every write of a runner names its generation and changes nothing under another one. So a process
that was taken for dead and goes on cannot settle a row a second time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, astuple

from gateway_core.storage.database import Database, Row, Statements

from .batch import OPEN, Batch, BatchError, RowUnderWay, Status, Surface

_JSON = ("headers", "metadata", "errors")
_IS_OPEN = f"status IN ({', '.join(repr(status) for status in OPEN)})"
_MINE = "id = :id AND generation = :generation AND runner = :runner"
_errors = msgspec.json.Decoder(tuple[BatchError, ...]).decode


class LeaseLost(Exception):
    """Another process has taken the batch over, or it is gone."""


class Lease(Struct, frozen=True):
    """The right of one process to run a batch."""

    batch_id: str
    runner: str
    generation: int

    @property
    def values(self) -> Row:
        return {"id": self.batch_id, "runner": self.runner, "generation": self.generation}


class Part(Struct, frozen=True):
    """A file of settled rows, as far as it counts."""

    generation: int
    length: int
    ledger_id: int


class Step(Struct, frozen=True, kw_only=True):
    """What a runner has done since its last write: rows that were settled, and rows that begin."""

    completed: int
    """Of the whole batch, as is ``failed``: so a step may be written twice."""
    failed: int
    length: int
    """Of the part."""
    settled: Sequence[int] = ()
    """Lines whose answers stand in the part."""
    begun: Sequence[RowUnderWay] = ()
    next_line: int
    """Of the first row that was not begun."""
    next_position: int


class BatchPage(Struct, frozen=True):
    """Newest first."""

    batches: tuple[Batch, ...]
    has_more: bool


class BatchFilter(Struct, frozen=True, kw_only=True):
    """Which batches of all owners; empty for any."""

    owner: str = ""
    surface: str = ""
    status: str = ""
    """A state, or ``open`` for all that are not over."""


class BatchStore:
    """Batches, their rows under way and their parts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # What owners do.

    async def create(self, batch: Batch) -> None:
        columns = Batch.__struct_fields__
        names = ", ".join(f":{name}" for name in columns)
        await self._database.execute(
            f"INSERT INTO batches ({', '.join(columns)}) VALUES ({names})", **_written(batch)
        )

    async def get(self, batch_id: str) -> Batch | None:
        rows = await self._database.fetch("SELECT * FROM batches WHERE id = :id", id=batch_id)
        return read_batch(rows[0]) if rows else None

    async def find(self, owner: str, surface: Surface, batch_id: str) -> Batch | None:
        """A batch of this owner; ``None`` for another one's, too."""
        batch = await self.get(batch_id)
        is_own = batch is not None and batch.owner == owner and batch.surface == surface
        return batch if is_own else None

    async def page(
        self,
        owner: str,
        surface: Surface,
        *,
        limit: int,
        after: str | None = None,
        before: str | None = None,
    ) -> BatchPage:
        """Batches of an owner behind the one with the id ``after``, or ahead of ``before``.

        Neither of the two has to exist any longer.
        """
        bound = "AND id < :after" if after else "AND id > :before" if before else ""
        order = "ASC" if before and not after else "DESC"
        rows = await self._database.fetch(
            f"SELECT * FROM batches WHERE owner = :owner AND surface = :surface {bound} "
            f"ORDER BY id {order} LIMIT :limit",
            owner=owner,
            surface=surface,
            limit=limit + 1,
            **({"after": after} if after else {"before": before} if before else {}),
        )
        batches = [read_batch(row) for row in rows[:limit]]
        if order == "ASC":
            batches.reverse()
        return BatchPage(tuple(batches), len(rows) > limit)

    async def count_open(self, owner: str) -> int:
        """An owner's batches that are not over."""
        rows = await self._database.fetch(
            f"SELECT count(*) AS total FROM batches WHERE owner = :owner AND {_IS_OPEN}",
            owner=owner,
        )
        total: int = rows[0]["total"]
        return total

    async def cancel(self, batch_id: str, now: float) -> None:
        """Have it cancelled, unless it is over or about to be."""
        await self._database.execute(
            "UPDATE batches SET status = 'cancelling', cancelling_at = :now "
            "WHERE id = :id AND status IN ('validating', 'in_progress')",
            id=batch_id,
            now=now,
        )

    # What the operator does.

    async def listed(
        self, which: BatchFilter, *, limit: int, offset: int
    ) -> tuple[list[Batch], int]:
        """A page of the batches of all owners, newest first, and how many there are."""
        columns = {"owner": which.owner, "surface": which.surface, "status": which.status}
        if which.status == "open":
            del columns["status"]
        values = {name: value for name, value in columns.items() if value}
        conditions = [f"{name} = :{name}" for name in values]
        if which.status == "open":
            conditions.append(_IS_OPEN)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = await self._database.fetch(
            f"SELECT * FROM batches {where} "
            "ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset",
            limit=limit,
            offset=offset,
            **values,
        )
        counted = await self._database.fetch(
            f"SELECT count(*) AS total FROM batches {where}", **values
        )
        return [read_batch(row) for row in rows], counted[0]["total"]

    async def remove(self, batch_id: str) -> bool:
        """Remove a batch that is over; false for any other."""
        async with self._database.transaction() as transaction:
            ended = await transaction.fetch(
                f"SELECT id FROM batches WHERE id = :id AND NOT {_IS_OPEN}", id=batch_id
            )
            if ended:
                await _remove(transaction, [batch_id])
        return bool(ended)

    # What schedulers do.

    async def waiting(self, now: float, runner: str, *, is_alone: bool) -> list[Batch]:
        """Batches that nobody else runs: those to be cancelled or expired first, then the oldest.

        ``is_alone`` says that no other process uses the database, so that every lease of another
        runner is that of a process that is gone.
        """
        rows = await self._database.fetch(
            f"SELECT * FROM batches WHERE {_IS_OPEN} AND {_free(is_alone)} "
            "ORDER BY CASE WHEN status = 'cancelling' OR expires_at <= :now THEN 0 ELSE 1 END, id",
            now=now,
            runner=runner,
        )
        return [read_batch(row) for row in rows]

    async def claim(
        self, batch: Batch, runner: str, now: float, until: float, *, is_alone: bool
    ) -> Lease | None:
        """Take a batch over as it was seen; ``None`` when somebody else was quicker."""
        lease = Lease(batch.id, runner, batch.generation + 1)
        async with self._database.transaction() as transaction:
            taken = await transaction.execute(
                f"UPDATE batches SET runner = :runner, leased_until = :until, "
                f"generation = :generation WHERE id = :id AND {_IS_OPEN} "
                f"AND generation = :seen AND {_free(is_alone)}",
                **lease.values,
                until=until,
                seen=batch.generation,
                now=now,
            )
            if not taken:
                return None
            await transaction.execute(
                "INSERT INTO batch_parts (batch_id, generation, length, ledger_id) VALUES "
                "(:id, :generation, 0, (SELECT coalesce(max(id), 0) FROM usage))",
                id=lease.batch_id,
                generation=lease.generation,
            )
        return lease

    async def renew(self, runner: str, until: float) -> None:
        """Keep all batches of a runner."""
        await self._database.execute(
            f"UPDATE batches SET leased_until = :until WHERE runner = :runner AND {_IS_OPEN}",
            runner=runner,
            until=until,
        )

    async def release(self, lease: Lease) -> None:
        """Let another process, or this one later, go on with a batch."""
        await self._database.execute(
            f"UPDATE batches SET runner = '', leased_until = 0 WHERE {_MINE}", **lease.values
        )

    async def remove_ended(self, before: float, most: int = 100) -> list[str]:
        """Remove batches that ended before a time; gives their ids."""
        ended = "coalesce(completed_at, failed_at, expired_at, cancelled_at, created_at)"
        async with self._database.transaction() as transaction:
            rows = await transaction.fetch(
                f"SELECT id FROM batches WHERE NOT {_IS_OPEN} AND {ended} < :before LIMIT :most",
                before=before,
                most=most,
            )
            ids = [row["id"] for row in rows]
            await _remove(transaction, ids)
        return ids

    async def with_files(self) -> set[str]:
        """The batches whose working files are needed: open ones, and those of messages, whose
        results they are."""
        rows = await self._database.fetch(
            f"SELECT id FROM batches WHERE {_IS_OPEN} OR surface = 'messages'"
        )
        return {row["id"] for row in rows}

    # What the runner of a batch does.

    async def rows(self, batch_id: str) -> list[RowUnderWay]:
        """The rows under way."""
        rows = await self._database.fetch(
            "SELECT line, position, tries, kills FROM batch_rows "
            "WHERE batch_id = :id ORDER BY line",
            id=batch_id,
        )
        return [RowUnderWay(**row) for row in rows]

    async def parts(self, batch_id: str) -> list[Part]:
        rows = await self._database.fetch(
            "SELECT generation, length, ledger_id FROM batch_parts WHERE batch_id = :id "
            "ORDER BY generation",
            id=batch_id,
        )
        return [Part(**row) for row in rows]

    async def in_ledger(self, ids: Sequence[str], since: int) -> set[str]:
        """Which of these requests have a row in the ledger behind a row of it."""
        rows = await self._database.fetch(
            "SELECT request_id FROM usage WHERE id > :since AND request_id IN "
            f"({', '.join(f':id{place}' for place in range(len(ids)))})",
            since=since,
            **{f"id{place}": each for place, each in enumerate(ids)},
        )
        return {row["request_id"] for row in rows}

    async def step(self, lease: Lease, step: Step) -> Status:
        """Write what was done: everything or nothing. Gives the batch's state. Raises LeaseLost."""
        async with self._database.transaction() as transaction:
            held = await transaction.fetch(
                "UPDATE batches SET completed = :completed, failed = :failed, "
                "next_line = :next_line, next_position = :next_position "
                f"WHERE {_MINE} RETURNING status",
                **lease.values,
                completed=step.completed,
                failed=step.failed,
                next_line=step.next_line,
                next_position=step.next_position,
            )
            if not held:
                raise LeaseLost
            await _write_rows(transaction, lease, step)
        status: Status = held[0]["status"]
        return status

    async def retry(self, lease: Lease, row: RowUnderWay) -> None:
        """Note that a row is about to be sent once more. Raises LeaseLost."""
        async with self._database.transaction() as transaction:
            if not await transaction.execute(
                f"UPDATE batches SET runner = :runner WHERE {_MINE}", **lease.values
            ):
                raise LeaseLost
            await transaction.execute(
                "UPDATE batch_rows SET tries = :tries WHERE batch_id = :id AND line = :line",
                id=lease.batch_id,
                line=row.line,
                tries=row.tries,
            )

    async def change(self, lease: Lease, where: str = "", **columns: Any) -> bool:
        """Set columns, if ``where`` holds; false when it does not. Raises LeaseLost."""
        values = {name: _encoded(name, value) for name, value in columns.items()}
        names = ", ".join(f"{name} = :{name}" for name in values)
        condition = f" AND {where}" if where else ""
        async with self._database.transaction() as transaction:
            changed = await transaction.execute(
                f"UPDATE batches SET {names} WHERE {_MINE}{condition}", **lease.values, **values
            )
            if not changed and not await transaction.fetch(
                f"SELECT 1 FROM batches WHERE {_MINE}", **lease.values
            ):
                raise LeaseLost
        return bool(changed)


def _free(is_alone: bool) -> str:
    """Whether no other living process may write to a batch."""
    return "1 = 1" if is_alone else "(runner IN ('', :runner) OR leased_until <= :now)"


async def _remove(transaction: Statements, batch_ids: Sequence[str]) -> None:
    ids = [{"id": each} for each in batch_ids]
    for table, column in (
        ("batch_rows", "batch_id"),
        ("batch_parts", "batch_id"),
        ("batches", "id"),
    ):
        await transaction.execute_many(f"DELETE FROM {table} WHERE {column} = :id", ids)


async def _write_rows(transaction: Statements, lease: Lease, step: Step) -> None:
    if step.settled:
        await transaction.execute(
            "UPDATE batch_parts SET length = :length "
            "WHERE batch_id = :id AND generation = :generation",
            id=lease.batch_id,
            generation=lease.generation,
            length=step.length,
        )
        await transaction.execute_many(
            "DELETE FROM batch_rows WHERE batch_id = ? AND line = ?",
            [(lease.batch_id, line) for line in step.settled],
        )
    if step.begun:
        await transaction.execute_many(
            "INSERT INTO batch_rows (batch_id, line, position, tries, kills) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (batch_id, line) DO UPDATE "
            "SET tries = excluded.tries, kills = excluded.kills",
            [(lease.batch_id, *astuple(row)) for row in step.begun],
        )


def _written(batch: Batch) -> Mapping[str, Any]:
    return {name: _encoded(name, value) for name, value in asdict(batch).items()}


def _encoded(name: str, value: Any) -> Any:
    if name in _JSON and value is not None:
        return msgspec.json.encode(value).decode()
    return int(value) if isinstance(value, bool) else value


def read_batch(row: Row) -> Batch:
    """A stored row as its value."""
    fields = {**row, "is_cli": bool(row["is_cli"]), "errors": _errors(row["errors"])}
    for name in ("headers", "metadata"):
        if row[name] is not None:
            fields[name] = msgspec.json.decode(row[name])
    return Batch(**fields)
