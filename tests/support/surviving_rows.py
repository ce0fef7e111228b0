"""What a kill at this moment would leave of the ledger: the database and the journals beside it."""

from typing import Any

from served_gateway import Served

from gateway_core.storage.journal import open_journals, rows_after

COLUMNS = ("request_id", "api_key_id", "status", "input_tokens", "output_tokens")
# One statement, so that the rows and the marks are of one moment.
SURVIVING = f"""
    SELECT {", ".join(COLUMNS)} FROM usage
    UNION ALL SELECT key, value, '', 0, 0 FROM meta WHERE key LIKE 'journal.%'
"""


def surviving_rows(here: Served, key_id: str) -> list[tuple[Any, ...]]:
    """A key's rows, in order: request id, status, input and output tokens."""
    core = here.gateway.core
    # The gateway's own connection reads: a second copy of SQLite in one process would drop the
    # locks of the first (https://www.sqlite.org/howtocorrupt.html, section 2.2.1).
    with open_journals(core.data_dir.journal) as journals:
        found = [tuple(row.values()) for row in here.do(core.stores.database.fetch(SURVIVING))]
        marks = {name: value for name, value, *_ in found if name.startswith("journal.")}
        for name, segments in journals.items():
            position = int(marks.get(f"journal.{name}", 0))
            for row, _ in rows_after(segments, position):
                found.append(tuple(getattr(row, column) for column in COLUMNS))
    return [(row[0], *row[2:]) for row in found if row[1] == key_id]
