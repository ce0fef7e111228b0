"""What a key used where several processes share one data directory."""

from pathlib import Path

from ..storage.journal import open_journals, rows_after
from ..storage.stores.key_usage import KeySpent, KeyUsageStore, used_by


class SharedSpending:
    """The sums of the database, and the rows that other processes have still to write there.

    So a call that has ended at one process is counted by the next one that reads the sums.
    """

    def __init__(self, store: KeyUsageStore, folder: Path, own: str) -> None:
        """``own`` is this process's journal, whose rows the ledger knows."""
        self._store, self._folder, self._own = store, folder, own

    async def spent(self, key_id: str, day: str) -> KeySpent:
        """What a key used on ``day``, since the first of its month, and ever."""
        # Opened first: a file that is removed meanwhile, because its rows are in the database,
        # can be read all the same. The marks say which of its rows are in the sums.
        with open_journals(self._folder, without=self._own) as journals:
            spent, marks = await self._store.spent_and_marks(key_id, day)
            for name, segments in journals.items():
                for row, _ in rows_after(segments, marks.get(name, 0)):
                    if row.api_key_id == key_id and row.attempts > 0:
                        spent = spent.plus(used_by(row), row.day)
        return spent
