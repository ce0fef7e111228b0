"""The store of request and response bodies: the newest ones, up to a limit."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..database import Database, Row

PARTS = ("request", "provider_request", "provider_response", "response")
_PUT = """
    INSERT INTO request_details (
        request_id, finished_at, request, provider_request, provider_response, response
    ) VALUES (
        :request_id, :finished_at, :request, :provider_request, :provider_response, :response
    ) ON CONFLICT (request_id) DO NOTHING
"""
_TRIM = """
    DELETE FROM request_details WHERE finished_at < (
        SELECT finished_at FROM request_details
        ORDER BY finished_at DESC LIMIT 1 OFFSET :last
    )
"""


class RequestDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """The bodies of a request, kept beside the ledger's row with the same request id.

    Each part is a JSON value, ``None`` where nothing was said, and an object with
    ``_truncated``, ``_originalSize`` and ``_preview`` where it was too long.
    """

    request_id: str
    finished_at: str
    request: Any = None
    provider_request: Any = None
    provider_response: Any = None
    response: Any = None


class RequestDetailStore:
    """Requests and answers, as they finish."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_many(self, details: Sequence[RequestDetail], *, keep: int) -> None:
        """Write details and let go of the oldest beyond ``keep``."""
        async with self._database.transaction() as transaction:
            await transaction.execute_many(_PUT, [_row(detail) for detail in details])
            await transaction.execute(_TRIM, last=max(keep, 1) - 1)


def _row(detail: RequestDetail) -> Row:
    row: dict[str, Any] = {"request_id": detail.request_id, "finished_at": detail.finished_at}
    for name in PARTS:
        row[name] = msgspec.json.encode(getattr(detail, name)).decode()
    return row
