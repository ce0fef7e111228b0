"""What can go wrong with stored data while the gateway runs.

GatewayError
├── StorageUnavailable (503)   the database does not take or give anything right now
├── StorageFull (507)          the disk is full or read-only; reads go on
├── ResultTooLarge (500)       a query gives more than may be held in memory
└── SealBroken (500)           one row's secret cannot be opened
UniqueViolation                for stores, which know what it means to the client
TransactionMisuse              a mistake in our own code
"""

from ..contracts.errors import GatewayError


class StorageUnavailable(GatewayError):
    status = 503
    code = "storage_unavailable"

    def __init__(self, message: str = "The gateway's database is not available right now") -> None:
        super().__init__(message)


class StorageFull(GatewayError):
    status = 507
    code = "storage_full"

    def __init__(self) -> None:
        super().__init__("The gateway's disk takes no more data; nothing was changed")


class ResultTooLarge(GatewayError):
    """One query gives more than an engine lets it; others go on."""

    code = "result_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The result of a database query is larger than {most // 1024 // 1024} MiB"
        )


class SealBroken(GatewayError):
    """A stored secret was altered, moved to another row, or sealed with another key."""

    code = "seal_broken"

    def __init__(self, table: str, row: str) -> None:
        super().__init__(
            f"The stored secret of {table}/{row} cannot be opened. "
            "Restore it from a backup, or delete the entry and make it anew."
        )


class UniqueViolation(Exception):
    """A row with the same key is there already."""


class TransactionMisuse(RuntimeError):
    """A transaction was nested, left open or used after its end."""
