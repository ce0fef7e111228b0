"""A batch as it is stored, its states, and the ids of its rows.

```text
validating ─▶ in_progress ─▶ finalizing ─▶ completed, failed
     │             │
     ├─────────────┴──▶ cancelling ─▶ cancelled
     └─────────────┴──▶ expired
```

A batch fails from anywhere when its input is bad or its runner breaks.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

Surface = Literal["completions", "messages"]
Status = Literal[
    "validating",
    "in_progress",
    "finalizing",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
    "expired",
]
OPEN: tuple[Status, ...] = ("validating", "in_progress", "finalizing", "cancelling")
PREFIXES: Mapping[Surface, str] = {"completions": "batch", "messages": "msgbatch"}
ENDPOINTS = ("/v1/chat/completions", "/v1/messages", "/v1/embeddings", "/v1/responses")
WINDOW = 24 * 3600.0
"""Seconds from a batch's creation to its expiry."""


class BatchError(Struct, frozen=True, omit_defaults=True):
    """What is wrong with a batch, or with a line of its input."""

    message: str
    code: str | None = None
    line: int | None = None


class Batch(Struct, frozen=True, kw_only=True):
    """Times are Unix seconds; ``None`` is for what has not happened."""

    id: str
    surface: Surface
    owner: str
    is_cli: bool = False
    """Created with the command line's token, which stands for its rows too."""
    endpoint: str
    input_file_id: str | None = None
    headers: Mapping[str, str] = {}
    """Of the request that created it, which each row is sent with."""
    metadata: Mapping[str, Any] | None = None
    status: Status = "validating"
    errors: tuple[BatchError, ...] = ()
    total: int | None = None
    """Rows; ``None`` until the input was checked."""
    completed: int = 0
    failed: int = 0
    next_line: int = 1
    next_position: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: float
    expires_at: float
    in_progress_at: float | None = None
    finalizing_at: float | None = None
    completed_at: float | None = None
    failed_at: float | None = None
    expired_at: float | None = None
    cancelling_at: float | None = None
    cancelled_at: float | None = None
    runner: str = ""
    leased_until: float = 0.0
    generation: int = 0

    @property
    def is_over(self) -> bool:
        return self.status not in OPEN

    @property
    def unsettled(self) -> int:
        """Rows without an answer."""
        return (self.total or 0) - self.completed - self.failed


class RowUnderWay(Struct, frozen=True):
    """A row that was begun."""

    line: int
    """Of the input, from 1."""
    position: int
    """Of the line's first byte."""
    tries: int = 1
    """How often it was sent, this time included."""
    kills: int = 0
    """How often its process was gone before it was settled."""


def row_id(batch_id: str, line: int) -> str:
    """The id of a row in the output: always the same, so that its line can be found again."""
    return f"batchreq_{_digits(batch_id, line)}"


def request_id(batch_id: str, row: RowUnderWay) -> str:
    """The id of a try in the ledger and in the output; each try has one of its own."""
    return f"req_{_digits(batch_id, row.line, row.tries)}"


def _digits(*parts: object) -> str:
    return hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()[:24]
